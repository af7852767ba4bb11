/* Buffers of module mpi_f08 that are sections of arrays. See sections.h. */
#include "sections.h"

#include <string.h>

/* Whether the elements lie one behind the other. An array of which only the beginning is known does: a compiler makes it so. */
static int is_contiguous(const CFI_cdesc_t *of)
{
    CFI_index_t step = (CFI_index_t)of->elem_len;
    for (int i = 0; i < of->rank; i++) {
        if (of->dim[i].extent <= 0)
            return 1;
        if (of->dim[i].extent > 1 && of->dim[i].sm != step)
            return 0;
        step *= of->dim[i].extent;
    }
    return 1;
}

static size_t bytes_of(const CFI_cdesc_t *of)
{
    size_t bytes = of->elem_len;
    for (int i = 0; i < of->rank; i++)
        bytes *= (size_t)of->dim[i].extent;
    return bytes;
}

/* Copies the elements of a section, which has some, to memory where they are contiguous, or back. */
static void copy_elements(const CFI_cdesc_t *of, char *packed, int back)
{
    CFI_index_t at[CFI_MAX_RANK] = {0};
    char *element = of->base_addr;
    for (int i = 0; i < of->rank;) {
        memcpy(back ? element : packed, back ? packed : element, of->elem_len);
        packed += of->elem_len;
        for (i = 0; i < of->rank; i++) {
            element += of->dim[i].sm;
            if (++at[i] < of->dim[i].extent)
                break;
            element -= of->dim[i].sm * at[i];
            at[i] = 0;
        }
    }
}

struct margay_section margay_section(const CFI_cdesc_t *of, enum margay_use use, MPI_Fint *ierror)
{
    struct margay_section section = {of, of->base_addr};
    if (use == MARGAY_PLACE || is_contiguous(of))
        return section;
    void *copy = use == MARGAY_CALL ? malloc(bytes_of(of)) : NULL;
    if (copy) {
        section.address = copy;
        copy_elements(of, copy, 0);
    } else {
        *ierror = MPI_ERR_BUFFER;
    }
    return section;
}

void margay_section_end(struct margay_section *section, int writes)
{
    if (section->address == section->of->base_addr)
        return;
    if (writes)
        copy_elements(section->of, section->address, 1);
    free(section->address);
}
