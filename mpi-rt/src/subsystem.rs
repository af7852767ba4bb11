//! What a subsystem over the engine is made of: state of its own ([`State`]), and a type that is the engine with the subsystem's calls
//! ([`subsystem!`](crate::subsystem!)). The engine knows neither.

use crate::engine::Engine;
use core::cell::UnsafeCell;

/// What a subsystem knows in this rank. Who has the engine in hand may use it, for as long: a callback that the engine is lent to finds both.
pub struct State<T>(UnsafeCell<T>);

// SAFETY: a rank is one thread, without signal handlers (lwk-user), and peers do not touch these objects.
unsafe impl<T> Sync for State<T> {}

impl<T> State<T> {
    pub const fn new(value: T) -> State<T> {
        State(UnsafeCell::new(value))
    }

    /// To look at.
    #[inline(always)]
    pub fn of<'e>(&'static self, _engine: &'e Engine) -> &'e T {
        // SAFETY: a rank has one engine at a time, which nobody can copy. It is borrowed for as long as this reference lives, so nobody has borrowed it
        // exclusively meanwhile, as every exclusive reference to the state takes.
        unsafe { &*self.0.get() }
    }

    /// To change.
    #[inline(always)]
    pub fn of_mut<'e>(&'static self, _engine: &'e mut Engine) -> &'e mut T {
        // SAFETY: a rank has one engine at a time, which nobody can copy. It is borrowed exclusively for as long as this reference lives, so there is no
        // other reference to the state, each of which takes a borrow of the engine.
        unsafe { &mut *self.0.get() }
    }
}

/// Declares a type that is the engine with the calls of a subsystem, and `with`, which lets a call use it as [`crate::engine::with`] does.
#[macro_export]
macro_rules! subsystem {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name($crate::engine::Engine);

        impl $name {
            /// The engine, with these calls.
            #[inline(always)]
            pub fn of(engine: &mut $crate::engine::Engine) -> &mut $name {
                // SAFETY: the type is the engine and nothing else, in the same layout; the reference is the only one, as that was.
                unsafe { &mut *core::ptr::from_mut(engine).cast() }
            }
        }

        impl core::ops::Deref for $name {
            type Target = $crate::engine::Engine;

            #[inline(always)]
            fn deref(&self) -> &$crate::engine::Engine {
                &self.0
            }
        }

        impl core::ops::DerefMut for $name {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut $crate::engine::Engine {
                &mut self.0
            }
        }

        /// Lets `call` use the engine. Errors: `ORDER` before start and after end, `INTERN` from inside another call that has not lent it.
        #[inline(always)]
        pub fn with<R>(
            call: impl FnOnce(&mut $name) -> $crate::error::Result<R>,
        ) -> $crate::error::Result<R> {
            $crate::engine::with(|engine| call($name::of(engine)))
        }
    };
}
