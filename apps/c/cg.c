/* Conjugate gradients on the 2-D Poisson equation: args [N [ITERATIONS]].
 *
 * The matrix is the five-point stencil on N by N points, spread by rows; the right side is chosen so that the solution is known. A step
 * exchanges one row with each of two neighbours and takes two sums over all ranks. Sums over ranks depend on the order in which
 * they are taken, so what is printed is rounded to digits that do not. */
#include "args.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows: far more than memory holds. */
enum { MOST = 1000000 };

static int rank, ranks, n, rows, first;

/* Vectors have a row before and a row after those of this rank. */
#define AT(v, i, j) ((v)[(size_t)((i) + 1) * (size_t)n + (size_t)(j)])

static double *vector(void)
{
    double *v = calloc((size_t)(rows + 2) * (size_t)n, sizeof *v);
    if (v == NULL) {
        fprintf(stderr, "cg: rank %d: no memory for a vector of %d rows\n", rank, rows);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return v;
}

static double dot(const double *a, const double *b)
{
    double mine = 0, all;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            mine += AT(a, i, j) * AT(b, i, j);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* y = A x, after the neighbours' rows of x have come. */
static void multiply(double *y, double *x)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&AT(x, 0, 0), n, MPI_DOUBLE, up, 1, &AT(x, rows, 0), n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&AT(x, rows - 1, 0), n, MPI_DOUBLE, down, 2, &AT(x, -1, 0), n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            double west = j > 0 ? AT(x, i, j - 1) : 0, east = j + 1 < n ? AT(x, i, j + 1) : 0;
            AT(y, i, j) = 4 * AT(x, i, j) - west - east - AT(x, i - 1, j) - AT(x, i + 1, j);
        }
}

/* The solution: a bump that is no eigenvector. */
static double solution(int i, int j)
{
    double x = (j + 1.0) / (n + 1), y = (i + 1.0) / (n + 1);
    return x * (1 - x) * y * (1 - y) * (1 + x + 2 * y * y);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = (int)argument(argc, argv, 1, 64, 1, MOST);
    int limit = (int)argument(argc, argv, 2, 1000, 1, INT_MAX);
    if (argc > 3 || n < ranks || limit < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: cg [N [ITERATIONS]]; %d ranks need at least that many rows, at most %d\n", ranks, MOST);
        MPI_Finalize();
        return 2;
    }
    first = (int)((long)n * rank / ranks);
    rows = (int)((long)n * (rank + 1) / ranks) - first;
    double *x = vector(), *exact = vector(), *r = vector(), *p = vector(), *q = vector();
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            AT(exact, i, j) = solution(first + i, j);
    multiply(r, exact);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            AT(p, i, j) = AT(r, i, j);
    double rho = dot(r, r), target = rho * 1e-24, started = MPI_Wtime();
    int steps = 0;
    while (steps < limit && rho > target) {
        multiply(q, p);
        double alpha = rho / dot(p, q);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < n; j++) {
                AT(x, i, j) += alpha * AT(p, i, j);
                AT(r, i, j) -= alpha * AT(q, i, j);
            }
        double next = dot(r, r), beta = next / rho;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < n; j++)
                AT(p, i, j) = AT(r, i, j) + beta * AT(p, i, j);
        rho = next;
        steps++;
    }
    double seconds = MPI_Wtime() - started, norm = sqrt(dot(x, x)), worst = 0, most;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            double off = fabs(AT(x, i, j) - AT(exact, i, j));
            worst = off > worst ? off : worst;
        }
    MPI_Reduce(&worst, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int good = rho <= target;
    if (rank == 0) {
        printf("cg: %d x %d points, norm %.8f, residual %s, error %s\n", n, n, norm, good ? "below 1e-12" : "TOO LARGE",
               most < 1e-9 ? "below 1e-9" : "TOO LARGE");
        if (getenv("TIMES") != NULL)
            printf("cg: %d ranks, %d steps, %.3f s\n", ranks, steps, seconds);
    }
    free(x);
    free(exact);
    free(r);
    free(p);
    free(q);
    MPI_Finalize();
    return !good;
}
