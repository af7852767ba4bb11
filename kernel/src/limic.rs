//! The queues of messages between the node's ranks ([`lwk_limic`]), in kernel memory that is taken when they are first used.

use lwk_abi::syscall::errno::ENOMEM;
use lwk_limic::Queues;
use lwk_personality::Errno;

use crate::memory;

static MEMORY: spin::Mutex<&'static mut [u64]> = spin::Mutex::new(&mut []);

/// Works on the queues of a node of `ranks` ranks, alone. Errors: `ENOMEM`.
pub fn with(ranks: u32, work: &mut dyn FnMut(&mut Queues<'_>)) -> Result<(), Errno> {
    let mut memory = MEMORY.lock();
    if memory.is_empty() {
        // Zeroed: empty queues.
        let words = Queues::words_for(ranks);
        let frames = memory::allocate_kernel((words * size_of::<u64>()) as u64).ok_or(Errno(ENOMEM))?;
        // Whole pages: more, perhaps, than asked for.
        *memory =
            lwk_limic::words(frames.keep()).and_then(|all| all.get_mut(..words)).ok_or(Errno(ENOMEM))?;
    }
    let mut queues = Queues::of(&mut memory, ranks).ok_or(Errno(ENOMEM))?;
    work(&mut queues);
    Ok(())
}
