/* More communicators than the library has contexts for: its own limit, which memory does not move (MPI-5.0, section 9.4). Freeing one makes room. */
#include "../check.h"

enum { MORE = 10000 };

static MPI_Comm all[MORE];

int main(int argc, char **argv)
{
    int made = 0, code = MPI_SUCCESS;
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    while (made < MORE && (code = MPI_Comm_dup(MPI_COMM_SELF, &all[made])) == MPI_SUCCESS)
        made++;
    CHECK(made > 8000 && made < MORE);
    FAILS(MPI_ERR_INTERN, code);
    FAILS(MPI_ERR_INTERN, MPI_Comm_split(MPI_COMM_SELF, 0, 0, &all[made]));
    OK(MPI_Comm_free(&all[made - 1]));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &all[made - 1]));
    FAILS(MPI_ERR_INTERN, MPI_Comm_dup(MPI_COMM_SELF, &all[made]));
    for (int i = 0; i < made; i++)
        MUST(MPI_Comm_free(&all[i]));
    return finish("limits");
}
