//! The operations of `apps/c/bench/sweep.c` and `sweep-shmem.c`, in their order, and what is measured of a job as a whole.

/// Start and end of a job that does nothing else: the one operation that is timed from outside.
pub const START_END: &str = "start_end";

/// Those of MPI.
pub const MPI: [&str; 129] = [
    "latency",
    "stream",
    "both_ways",
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allreduce_float",
    "allreduce_max_float",
    "allreduce_int",
    "allreduce_long",
    "reduce_float",
    "reduce_scatter_block",
    "reduce_scatter",
    "scan",
    "exscan",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "put_flush",
    "put_fence",
    "put_lock",
    "get_flush",
    "get_fence",
    "get_lock",
    "accumulate_flush",
    "accumulate_fence",
    "accumulate_lock",
    "get_accumulate_flush",
    "get_accumulate_fence",
    "get_accumulate_lock",
    "fetch_and_op_flush",
    "fetch_and_op_fence",
    "fetch_and_op_lock",
    "compare_and_swap_flush",
    "compare_and_swap_fence",
    "compare_and_swap_lock",
    "latency_odd",
    "latency_malloc",
    "latency_stack",
    "stream_odd",
    "exchange_persistent",
    "pack_vector",
    "unpack_vector",
    "latency_vector",
    "pack_nested",
    "unpack_nested",
    "latency_nested",
    "pack_records",
    "unpack_records",
    "latency_records",
    "alltoallw",
    "bcast_odd",
    "allgather_odd",
    "alltoall_odd",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "ibarrier",
    "ibarrier_overlap",
    "ibcast",
    "ibcast_overlap",
    "ireduce",
    "ireduce_overlap",
    "iallreduce",
    "iallreduce_overlap",
    "ireduce_scatter_block",
    "ireduce_scatter_block_overlap",
    "ireduce_scatter",
    "ireduce_scatter_overlap",
    "iexscan",
    "iexscan_overlap",
    "iscan",
    "iscan_overlap",
    "igather",
    "igather_overlap",
    "igatherv",
    "igatherv_overlap",
    "iscatter",
    "iscatter_overlap",
    "iscatterv",
    "iscatterv_overlap",
    "iallgather",
    "iallgather_overlap",
    "iallgatherv",
    "iallgatherv_overlap",
    "ialltoall",
    "ialltoall_overlap",
    "ialltoallv",
    "ialltoallv_overlap",
    "ialltoallw",
    "ialltoallw_overlap",
    "ineighbor_allgather",
    "ineighbor_allgather_overlap",
    "ineighbor_alltoallv",
    "ineighbor_alltoallv_overlap",
    "ineighbor_alltoall",
    "ineighbor_alltoall_overlap",
    "bcast_init",
    "reduce_init",
    "allreduce_init",
    "barrier_init",
    "reduce_scatter_block_init",
    "scan_init",
    "allgatherv_init",
    "alltoallv_init",
    "gather_init",
    "allgather_init",
    "alltoall_init",
    "neighbor_alltoall_init",
    "put_odd_flush",
    "put_post",
    "get_post",
    "accumulate_post",
    "get_accumulate_post",
    "fetch_and_op_post",
    "compare_and_swap_post",
    "accumulate_float_flush",
    "accumulate_int_flush",
    "accumulate_replace_flush",
    "get_odd_flush",
    START_END,
];

/// Those of OpenSHMEM.
pub const SHMEM: [&str; 25] = [
    "shmem_put",
    "shmem_put_odd",
    "shmem_put_window",
    "shmem_put_strided",
    "shmem_put_wait",
    "shmem_p_wait",
    "shmem_get",
    "shmem_get_window",
    "shmem_add",
    "shmem_set",
    "shmem_fetch",
    "shmem_fetch_add",
    "shmem_swap",
    "shmem_compare_swap",
    "shmem_barrier",
    "shmem_sync",
    "shmem_broadcast",
    "shmem_collect",
    "shmem_fcollect",
    "shmem_alltoall",
    "shmem_sum_double",
    "shmem_sum_long",
    "shmem_sum_float",
    "shmem_max_float",
    "shmem_and_int",
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static str> {
    MPI.into_iter().chain(SHMEM)
}

/// Whether any of these begins with a word of the user's, or the user names none.
pub fn is_wanted(operations: &[&str], words: &[String]) -> bool {
    let begins = |word: &String| operations.iter().any(|it| it.starts_with(word.as_str()));
    words.is_empty() || words.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the table of a program.
    fn names(source: &str) -> Vec<&str> {
        let table = source.split_once("operations[] = {").unwrap().1.split_once("\n};").unwrap().0;
        table.split("{\"").skip(1).map(|it| it.split_once('"').unwrap().0).collect()
    }

    #[test]
    fn the_programs_have_these_operations_and_no_others() {
        let mut of_mpi = names(include_str!("../../../../../apps/c/bench/sweep.c"));
        of_mpi.push(START_END);
        assert_eq!(of_mpi, MPI);
        assert_eq!(names(include_str!("../../../../../apps/c/bench/sweep-shmem.c")), SHMEM);
    }

    #[test]
    fn a_word_asks_for_the_program_that_has_what_begins_with_it() {
        let asked = |word: &str| {
            let words = [word.to_owned()];
            (is_wanted(&MPI, &words), is_wanted(&SHMEM, &words))
        };
        assert_eq!((asked("put_fl"), asked("shmem_put")), ((true, false), (false, true)));
        assert!(is_wanted(&MPI, &[]) && is_wanted(&SHMEM, &[]));
    }
}
