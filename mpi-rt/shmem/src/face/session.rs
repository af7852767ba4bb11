//! Set-up, end, and who is there.

use crate::engine::{self, BadSetting, Settings};
use core::fmt;
use lwk_user::Env;

/// A PE that exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pe(i32);

impl Pe {
    /// The PE with that number; `None` if there is none.
    #[inline]
    pub fn new(number: usize) -> Option<Pe> {
        (number < engine::n_pes() as usize).then_some(Pe(number as i32))
    }

    /// Its number, from 0.
    #[inline]
    pub fn number(self) -> usize {
        self.0 as usize
    }

    /// The PE `distance` numbers further around the ring of all.
    #[inline]
    pub fn ahead(self, distance: usize) -> Pe {
        let count = engine::n_pes() as usize;
        Pe(((self.number() + distance % count) % count) as i32)
    }

    /// Its number as the engine takes it.
    #[inline(always)]
    pub(crate) fn raw(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Pe {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The library, set up. Dropping it finalizes, which waits for all PEs; it is set up once in a program.
pub struct Shmem {
    /// Not for anyone else to make, and not to leave the one thread there is.
    _own: core::marker::PhantomData<*const ()>,
}

/// Sets the library up. Collective.
///
/// Errors: a variable of the environment that makes no sense; in all PEs alike, since all have the same environment. A second call, while the
/// library is set up or after, ends the job: there is one [`Shmem`], whose drop finalizes.
pub fn init(env: &Env) -> Result<Shmem, BadSetting> {
    let settings = Settings::from_environment(|name| env.var(name))?;
    engine::init_first(&settings);
    Ok(Shmem { _own: core::marker::PhantomData })
}

impl Shmem {
    /// This PE.
    #[inline]
    pub fn me(&self) -> Pe {
        Pe(engine::my_pe())
    }

    /// How many PEs there are.
    #[inline]
    pub fn count(&self) -> usize {
        engine::n_pes() as usize
    }

    /// All PEs in order, this one included.
    pub fn pes(&self) -> impl ExactSizeIterator<Item = Pe> + use<> {
        (0..engine::n_pes()).map(Pe)
    }

    /// Waits for all PEs; what any of them has put or stored before is visible to all after.
    #[inline]
    pub fn barrier(&self) {
        engine::barrier_all();
    }

    /// Orders puts and atomics before it with those after it.
    #[inline]
    pub fn fence(&self) {
        engine::fence();
    }

    /// Completes all puts and atomics.
    #[inline]
    pub fn quiet(&self) {
        engine::quiet();
    }
}

impl Drop for Shmem {
    fn drop(&mut self) {
        engine::finalize();
    }
}
