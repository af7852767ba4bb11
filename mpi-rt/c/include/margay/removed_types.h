/* What MPI-3.0 has removed and old programs still use (MPI-3.0, chapter 16; MPI-2.2, sections 2.6.1 and 15), beside functions: compilers say so of those.
   Included by mpi.h. */

#if defined __GNUC__
#define MARGAY_REMOVED __attribute__((deprecated("MPI-3.0 has removed it")))
#else
#define MARGAY_REMOVED
#endif
#define MARGAY_REMOVED_MPI(type, name, arguments) \
    MARGAY_REMOVED type MPI_##name arguments;     \
    MARGAY_REMOVED type PMPI_##name arguments;

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* Markers of bounds among the types of a struct; nowhere else. */
#define MPI_LB ((MPI_Datatype)0x27e)
#define MPI_UB ((MPI_Datatype)0x27f)

/* How Fortran's forms of constructors were told. */
#define MPI_COMBINER_HVECTOR_INTEGER MPI_COMBINER_HVECTOR
#define MPI_COMBINER_HINDEXED_INTEGER MPI_COMBINER_HINDEXED
#define MPI_COMBINER_STRUCT_INTEGER MPI_COMBINER_STRUCT
