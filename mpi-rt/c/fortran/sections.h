/* How the C functions behind module mpi_f08 are written: one for each specific procedure, mpi_x_f08_ and pmpi_x_f08_, which calls the older wrapper. The
   error code is NULL if it is left out. A buffer comes as a description of its shape (TYPE(*), DIMENSION(..); ISO/IEC 1539-1:2018, section 18.5). */
#ifndef MARGAY_SECTIONS_H
#define MARGAY_SECTIONS_H

#include "fortran.h"
#include <ISO_Fortran_binding.h>

#define F08(name, arguments)                                                                  \
    void pmpi_##name##_f08_ arguments;                                                        \
    void mpi_##name##_f08_ arguments __attribute__((weak, alias("pmpi_" #name "_f08_")));    \
    void pmpi_##name##_f08_ arguments

/* The first line: there is a place for the error code. */
#define MARGAY_CODE             \
    MPI_Fint margay_ignored;    \
    if (!ierror)                \
        ierror = &margay_ignored; \
    *ierror = MPI_SUCCESS

/* Whether a buffer is used during the call, after it, too, or its address is what matters. */
enum margay_use { MARGAY_CALL, MARGAY_HELD, MARGAY_PLACE };

struct margay_section {
    const CFI_cdesc_t *of;
    /* The buffer, or a copy of a section that is not contiguous. */
    void *address;
};

/* A buffer for a call. Of a section that is not contiguous a copy is made, unless its address is what matters; there is none for a use after the call,
   which is MPI_ERR_BUFFER, as is one for which there is no memory. */
struct margay_section margay_section(const CFI_cdesc_t *of, enum margay_use use, MPI_Fint *ierror);
/* After the call: what it has written goes to the section. */
void margay_section_end(struct margay_section *section, int writes);

#endif
