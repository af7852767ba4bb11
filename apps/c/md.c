/* A molecular-dynamics toy with halo exchange: args [LENGTH [STEPS]].
 *
 * LENGTH layers of 6 by 6 particles attract and repel each other as Lennard and Jones say, in a periodic box.
 *
 * The box is cut into slabs along its length, one a rank. In each step a rank sends copies of the particles near its faces to its
 * neighbours (the halo), computes forces, moves its particles, and hands over those that have left its slab. How many will come
 * is not known before: receivers probe. Forces and energies are added as integers, multiples of 2^-36, so that no sum depends on its order, and
 * every number of ranks prints the same to the last bit. */
#include "args.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 6
#define SPACING 1.2
#define CUTOFF 2.5
#define STEP 0.004
#define UNIT 68719476736.0 /* 2^36 */

struct particle {
    double at[3], velocity[3];
    int64_t force[3];
    int64_t id;
};

/* Particles of one's own, then those of the halo. */
static struct particle *particles, *leaving;
static int own, all, room;
static int rank, ranks, left, right;
static double length, width = WIDTH * SPACING, low, high;
static MPI_Datatype particle_type;

static void fail(const char *what)
{
    fprintf(stderr, "md: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double thermal(int64_t id, int axis)
{
    uint64_t z = (uint64_t)(3 * id + axis + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 40) / 16777216.0 - 0.5;
}

static void describe(void)
{
    int lengths[4] = {3, 3, 3, 1};
    MPI_Aint places[4] = {offsetof(struct particle, at), offsetof(struct particle, velocity), offsetof(struct particle, force),
                          offsetof(struct particle, id)};
    MPI_Datatype types[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_INT64_T, MPI_INT64_T};
    MPI_Type_create_struct(4, lengths, places, types, &particle_type);
    MPI_Type_commit(&particle_type);
}

static void place(int layers)
{
    for (int64_t id = 0; id < (int64_t)layers * WIDTH * WIDTH; id++) {
        struct particle p = {.id = id};
        p.at[0] = ((double)(id / (WIDTH * WIDTH)) + 0.5) * SPACING;
        p.at[1] = ((double)(id / WIDTH % WIDTH) + 0.5) * SPACING;
        p.at[2] = ((double)(id % WIDTH) + 0.5) * SPACING;
        for (int axis = 0; axis < 3; axis++)
            p.velocity[axis] = 2 * thermal(id, axis);
        if (p.at[0] >= low && p.at[0] < high)
            particles[own++] = p;
    }
}

/* Sends `count` particles to one neighbour and appends what comes from the other. */
static void pass(const struct particle *out, int count, int to, int from, int tag)
{
    MPI_Request request;
    MPI_Status status;
    int coming;
    MPI_Isend(out, count, particle_type, to, tag, MPI_COMM_WORLD, &request);
    MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, particle_type, &coming);
    if (coming == MPI_UNDEFINED || all + coming > room)
        fail("more particles come than there is room for");
    MPI_Recv(particles + all, coming, particle_type, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all += coming;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void halo(void)
{
    all = own;
    if (ranks == 1)
        return;
    for (int side = 0; side < 2; side++) {
        int count = 0;
        for (int i = 0; i < own; i++)
            if (side == 0 ? particles[i].at[0] < low + CUTOFF : particles[i].at[0] >= high - CUTOFF)
                leaving[count++] = particles[i];
        pass(leaving, count, side == 0 ? left : right, side == 0 ? right : left, side);
    }
}

/* Hands over particles that have left the slab. */
static void migrate(void)
{
    for (int i = 0; i < own; i++)
        for (int axis = 0; axis < 3; axis++) {
            double box = axis == 0 ? length : width;
            if (particles[i].at[axis] < 0)
                particles[i].at[axis] += box;
            if (particles[i].at[axis] >= box)
                particles[i].at[axis] -= box;
        }
    if (ranks == 1)
        return;
    int kept = 0, gone[2] = {0, 0};
    struct particle *out[2] = {leaving, leaving + room / 2};
    for (int i = 0; i < own; i++) {
        double x = particles[i].at[0];
        if (x >= low && x < high) {
            particles[kept++] = particles[i];
            continue;
        }
        /* To the nearer side, around the box. */
        double ahead = x - high < 0 ? x - high + length : x - high, behind = low - x < 0 ? low - x + length : low - x;
        int side = behind <= ahead ? 0 : 1;
        if (gone[side] == room / 2)
            fail("more particles leave than there is room for");
        out[side][gone[side]++] = particles[i];
    }
    own = all = kept;
    pass(out[0], gone[0], left, right, 2);
    pass(out[1], gone[1], right, left, 3);
    own = all;
}

static double nearest(double d, double box)
{
    return d > box / 2 ? d - box : d < -box / 2 ? d + box : d;
}

/* Forces on one's own particles; twice their potential energy. */
static int64_t forces(void)
{
    int64_t energy = 0;
    for (int i = 0; i < own; i++) {
        struct particle *p = &particles[i];
        memset(p->force, 0, sizeof p->force);
        for (int j = 0; j < all; j++) {
            const struct particle *q = &particles[j];
            double dx = nearest(p->at[0] - q->at[0], length), dy = nearest(p->at[1] - q->at[1], width);
            double dz = nearest(p->at[2] - q->at[2], width), r2 = dx * dx + dy * dy + dz * dz;
            if (r2 >= CUTOFF * CUTOFF || q->id == p->id)
                continue;
            double s2 = 1 / r2, s6 = s2 * s2 * s2, strength = 24 * s2 * s6 * (2 * s6 - 1);
            p->force[0] += llrint(strength * dx * UNIT);
            p->force[1] += llrint(strength * dy * UNIT);
            p->force[2] += llrint(strength * dz * UNIT);
            energy += llrint(4 * s6 * (s6 - 1) * UNIT);
        }
    }
    return energy;
}

static void kick(void)
{
    for (int i = 0; i < own; i++)
        for (int axis = 0; axis < 3; axis++)
            particles[i].velocity[axis] += 0.5 * STEP * ((double)particles[i].force[axis] / UNIT);
}

static void drift(void)
{
    for (int i = 0; i < own; i++)
        for (int axis = 0; axis < 3; axis++)
            particles[i].at[axis] += STEP * particles[i].velocity[axis];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int layers = (int)argument(argc, argv, 1, 24, 5, 100000), steps = (int)argument(argc, argv, 2, 20, 1, INT_MAX);
    length = layers * SPACING;
    /* A slab as wide as the cutoff has neighbours on two sides only; two ranks are each other's neighbour on both. */
    double least = ranks == 1 ? 0 : (ranks == 2 ? 2 : 1) * CUTOFF * ranks;
    if (argc > 3 || layers < 0 || steps < 0 || length < least) {
        if (rank == 0)
            fprintf(stderr, "usage: md [LENGTH [STEPS]]; %d ranks need a LENGTH of at least %d\n", ranks,
                    least > 5 * SPACING ? (int)ceil(least / SPACING) : 5);
        MPI_Finalize();
        return 2;
    }
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    low = length * rank / ranks;
    high = length * (rank + 1) / ranks;
    room = 2 * layers * WIDTH * WIDTH + 64;
    particles = calloc((size_t)room, sizeof *particles);
    leaving = calloc((size_t)room, sizeof *leaving);
    if (particles == NULL || leaving == NULL)
        fail("no memory for the particles");
    describe();
    place(layers);
    double started = MPI_Wtime();
    halo();
    int64_t mine[4], sum[4];
    mine[0] = forces();
    for (int step = 0; step < steps; step++) {
        kick();
        drift();
        migrate();
        halo();
        mine[0] = forces();
        kick();
    }
    double seconds = MPI_Wtime() - started;
    mine[1] = mine[2] = 0;
    mine[3] = own;
    for (int i = 0; i < own; i++) {
        double v2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            uint64_t bits;
            memcpy(&bits, &particles[i].at[axis], sizeof bits);
            mine[2] = (int64_t)((uint64_t)mine[2] + bits * (uint64_t)(particles[i].id + 1));
            v2 += particles[i].velocity[axis] * particles[i].velocity[axis];
        }
        mine[1] += llrint(0.5 * v2 * UNIT);
    }
    MPI_Reduce(mine, sum, 4, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        double potential = (double)sum[0] / 2 / UNIT, kinetic = (double)sum[1] / UNIT;
        printf("md: %lld particles, %d steps, potential %.6f, kinetic %.6f, total %.6f, checksum %016llx\n", (long long)sum[3], steps,
               potential, kinetic, potential + kinetic, (unsigned long long)sum[2]);
        if (getenv("TIMES") != NULL)
            printf("md: %d ranks, %.3f s\n", ranks, seconds);
    }
    MPI_Type_free(&particle_type);
    free(particles);
    free(leaving);
    MPI_Finalize();
    return 0;
}
