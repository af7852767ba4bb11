//! The Rust face: objects, bounds, teams, locks.

use crate::check::Check;
use lwk_shmem::{Compare, Error, Max, Pe, Shmem, Sum, engine};

pub fn run(shmem: &Shmem, check: &mut Check) {
    let before = engine::heap_free_bytes();
    if let Err(error) = objects(shmem, check) {
        check.equal(Err(error), Ok(()));
    }
    check.equal(engine::heap_free_bytes(), before);
    check.equal(Pe::new(shmem.count()), None);
    check.equal(shmem.me().ahead(shmem.count()), shmem.me());
    check.equal(shmem.pes().count(), shmem.count());
}

fn objects(shmem: &Shmem, check: &mut Check) -> Result<(), Error> {
    let (me, count) = (shmem.me(), shmem.count());
    let right = me.ahead(1);
    let left = me.ahead(count - 1).number() as u64;
    let mut data = shmem.slice::<u64>(10)?;
    let flag = shmem.atomic::<u64>()?;
    // SAFETY: only the left neighbour writes this PE's elements, before it sets the flag; only this PE reads them after.
    unsafe {
        data.put(right, 2, &[me.number() as u64; 5])?;
        data.put_one(right, 9, 99)?;
        flag.set(right, 1);
        check.equal(flag.wait_until(Compare::Eq, 1), 1);
        check.equal(data.local().to_vec(), alloc::vec![0, 0, left, left, left, left, left, 0, 0, 99]);
        shmem.barrier();
        check.equal(data.get_one(me, 9)?, 99);
        let mut part = [0; 3];
        data.get(right, 1, &mut part)?;
        check.equal(part, [0, me.number() as u64, me.number() as u64]);
        let out = Error::OutOfRange { start: 8, count: 3, length: 10 };
        check.equal(data.put(right, 8, &part), Err(out));
        check.equal(data.get_one(right, usize::MAX).is_err(), true);
    }
    let root = Pe::new(0).unwrap_or(me);
    for _ in 0..20 {
        flag.add(root, 2);
    }
    shmem.barrier();
    check.equal(flag.fetch(root), 1 + 40 * count as u64);
    collectives(shmem, check, &mut data)?;
    let lock = shmem.lock()?;
    for _ in 0..20 {
        let _guard = lock.lock();
        // SAFETY: under the lock.
        let value = unsafe { data.get_one(root, 0)? };
        // SAFETY: under the lock.
        unsafe { data.put_one(root, 0, value + 1)? };
    }
    shmem.barrier();
    // SAFETY: nobody writes after the barrier.
    check.equal(unsafe { data.get_one(root, 0)? }, 20 * count as u64);
    check.that(shmem.slice::<u64>(usize::MAX / 4).is_err());
    shmem.barrier();
    Ok(())
}

fn collectives(shmem: &Shmem, check: &mut Check, data: &mut lwk_shmem::SymSlice<u64>) -> Result<(), Error> {
    let count = shmem.count() as u64;
    let world = shmem.world();
    let mut all = shmem.slice::<u64>(10 * shmem.count())?;
    shmem.barrier();
    // SAFETY: before the barrier no peer uses this PE's elements.
    unsafe { data.local_mut() }.fill(shmem.me().number() as u64 + 1);
    shmem.barrier();
    // SAFETY: all PEs make the same calls, and the synchronisations make destinations ready.
    unsafe {
        world.reduce::<u64, Sum>(&mut all, data, 10)?;
        check.equal(all.local()[9], count * (count + 1) / 2);
        world.sync();
        world.fcollect(&mut all, data, 10)?;
        check.equal(all.local()[10 * shmem.count() - 1], count);
        world.sync();
        world.broadcast(&mut all, data, 10, shmem.count() - 1)?;
        check.equal(all.local()[0], count);
        check.equal(world.broadcast(&mut all, data, 10, shmem.count()), Err(Error::NoSuchMembers));
        check.that(world.reduce::<u64, Max>(&mut all, data, 11).is_err());
        world.sync();
        if let Some(first) = world.split(0, 1, shmem.count().div_ceil(2))? {
            first.reduce::<u64, Max>(&mut all, data, 1)?;
            check.equal(all.local()[0], first.size() as u64);
        }
        check.equal(world.split(0, 1, shmem.count() + 1).err(), Some(Error::NoSuchMembers));
        data.local_mut().fill(0);
    }
    shmem.barrier();
    Ok(())
}
