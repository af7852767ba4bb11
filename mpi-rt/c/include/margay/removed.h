/* What MPI-3.0 has removed and old programs still use (MPI-3.0, chapter 16; MPI-2.2, sections 2.6.1 and 15): compilers say so. Included by mpi.h;
   every line declares a function under its MPI_ and its PMPI_ name. */

#undef MARGAY_MPI
#if defined __GNUC__
#define MARGAY_REMOVED __attribute__((deprecated("MPI-3.0 has removed it")))
#else
#define MARGAY_REMOVED
#endif
#define MARGAY_MPI(type, name, arguments)     \
    MARGAY_REMOVED type MPI_##name arguments; \
    MARGAY_REMOVED type PMPI_##name arguments;

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* Markers of bounds among the types of a struct; nowhere else. */
#define MPI_LB ((MPI_Datatype)0x27e)
#define MPI_UB ((MPI_Datatype)0x27f)

/* How Fortran's forms of constructors were told. */
#define MPI_COMBINER_HVECTOR_INTEGER MPI_COMBINER_HVECTOR
#define MPI_COMBINER_HINDEXED_INTEGER MPI_COMBINER_HINDEXED
#define MPI_COMBINER_STRUCT_INTEGER MPI_COMBINER_STRUCT

MARGAY_MPI(int, Address, (const void *location, MPI_Aint *address))
MARGAY_MPI(int, Errhandler_create, (MPI_Handler_function *function, MPI_Errhandler *errhandler))
MARGAY_MPI(int, Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler))
MARGAY_MPI(int, Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler))
MARGAY_MPI(int, Type_extent, (MPI_Datatype datatype, MPI_Aint *extent))
MARGAY_MPI(int, Type_hindexed, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
MARGAY_MPI(int, Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype))
MARGAY_MPI(int, Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement))
MARGAY_MPI(int, Type_struct, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
MARGAY_MPI(int, Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement))

#undef MARGAY_REMOVED
