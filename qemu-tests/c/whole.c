/* An operation of the program gets the whole count in one call, in every form of every reduction, commutative or not, on plain and on derived
   datatypes: what it makes of one item may depend on all others. Here the vectors are permutations, composed, and sorted lists, merged. */
#include "../../conformance/forms.h"

enum { LARGEST = 6000, VALUES = 1 << 20 };

/* This rank in the communicator. */
static int me_;
static int count_, calls_, wrong_;
static MPI_Datatype type_;
/* Ints from one item to the next. */
static int stride_;
static int *in_, *out_, *expected_, *scratch_;

static void seen(int count, MPI_Datatype type)
{
    calls_++;
    wrong_ += count != count_ || type != type_;
}

/* in after inout: does not commute. */
static void composed(const int *in, int *inout)
{
    for (int i = 0; i < count_; i++)
        scratch_[i] = in[inout[i * stride_] * stride_];
    for (int i = 0; i < count_; i++)
        inout[i * stride_] = scratch_[i];
}

/* The smallest of two sorted lists, as many as each has. */
static void merged(const int *in, int *inout)
{
    for (int i = 0, a = 0, b = 0; i < count_; i++)
        scratch_[i] = in[a * stride_] < inout[b * stride_] ? in[a++ * stride_] : inout[b++ * stride_];
    for (int i = 0; i < count_; i++)
        inout[i * stride_] = scratch_[i];
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    seen(*count, *type);
    if (*count == count_)
        composed(in, inout);
}

static void merge(void *in, void *inout, int *count, MPI_Datatype *type)
{
    seen(*count, *type);
    if (*count == count_)
        merged(in, inout);
}

static int commutes_;

/* The vector of a rank. */
static void vector(int rank, int *into)
{
    unsigned step = commutes_ ? (unsigned)(rank * 7 + 3) : 1, at = (unsigned)rank * 5;
    for (int i = 0; i < count_; i++)
        into[i * stride_] = commutes_ ? (int)(((unsigned)i * step + at) % VALUES) : i;
    if (!commutes_) /* a transposition and a rotation: no two ranks' commute */
        for (int i = 0; i < count_; i++)
            into[i * stride_] = i == 0 ? (rank + 1) % count_ : i == (rank + 1) % count_ ? 0 : i;
    if (!commutes_ && rank % 2 == 0)
        for (int i = 0; i < count_; i++)
            into[i * stride_] = (into[i * stride_] + rank + 1) % count_;
}

/* What ranks `first` to `last` give. */
static void expect(int first, int last)
{
    int *one = malloc((size_t)(count_ * stride_) * sizeof(int));
    vector(last, expected_);
    for (int rank = last - 1; rank >= first; rank--) {
        vector(rank, one);
        (commutes_ ? merged : composed)(one, expected_);
    }
    free(one);
}

static void fresh(int in_place)
{
    for (int i = 0; i < count_ * stride_; i++)
        in_[i] = out_[i] = -1;
    vector(me_, in_place ? out_ : in_);
    calls_ = wrong_ = 0;
}

/* `n` items at `out_` are the expected ones from `from` on, nothing else has been written, and every call was for all. */
static int right(int from, int n)
{
    if (wrong_ > 0)
        return 0;
    for (int i = 0; i < n; i++)
        if (out_[i * stride_] != expected_[(from + i) * stride_])
            return 0;
    for (int i = 0; i < count_ * stride_; i++)
        if (i % stride_ != 0 && out_[i] != -1)
            return 0;
    return 1;
}

static int untouched(void)
{
    return wrong_ == 0 && out_[0] == -1;
}

/* All reductions, or those that there are between groups, where the result is of the other one's vectors. */
static void reductions(MPI_Op op, MPI_Op large)
{
    int inter, n, others;
    OK(MPI_Comm_test_inter(comm, &inter));
    OK(MPI_Comm_rank(comm, &me_));
    OK(MPI_Comm_size(comm, &n));
    others = n;
    if (inter)
        OK(MPI_Comm_remote_size(comm, &others));
    int root = inter ? rank_ % 2 == 0 ? me_ == 0 ? MPI_ROOT : MPI_PROC_NULL : 0 : n - 1;
    int gets = inter ? root == MPI_ROOT : me_ == root;
    int *blocks = malloc((size_t)n * sizeof(int)), left = count_, before = 0, block = count_ / n;
    MPI_Count *large_blocks = malloc((size_t)n * sizeof(MPI_Count));
    for (int i = 0; i < n; i++) {
        blocks[i] = i == n - 1 ? left : left / 3;
        large_blocks[i] = blocks[i];
        left -= blocks[i];
        before += i < me_ ? blocks[i] : 0;
    }
    expect(0, others - 1);
    FORMS(Reduce, Ireduce, (in_, out_, count_, type_, op, root), (in_, out_, count_, type_, large, root), fresh(0),
          gets ? right(0, count_) : untouched());
    FORMS(Allreduce, Iallreduce, (in_, out_, count_, type_, op), (in_, out_, count_, type_, large), fresh(0), right(0, count_));
    FORMS(Reduce_scatter, Ireduce_scatter, (in_, out_, blocks, type_, op), (in_, out_, large_blocks, type_, large), fresh(0),
          right(before, blocks[me_]));
    if (count_ % n == 0 && count_ % others == 0)
        FORMS(Reduce_scatter_block, Ireduce_scatter_block, (in_, out_, block, type_, op), (in_, out_, block, type_, large), fresh(0),
              right(me_ * block, block));
    if (!inter) {
        const void *from = gets ? MPI_IN_PLACE : (void *)in_;
        FORMS(Reduce, Ireduce, (from, out_, count_, type_, op, root), (from, out_, count_, type_, large, root), fresh(gets),
              gets ? right(0, count_) : untouched());
        FORMS(Allreduce, Iallreduce, (MPI_IN_PLACE, out_, count_, type_, op), (MPI_IN_PLACE, out_, count_, type_, large), fresh(1),
              right(0, count_));
        FORMS(Reduce_scatter, Ireduce_scatter, (MPI_IN_PLACE, out_, blocks, type_, op), (MPI_IN_PLACE, out_, large_blocks, type_, large),
              fresh(1), right(before, blocks[me_]));
        expect(0, me_);
        FORMS(Scan, Iscan, (in_, out_, count_, type_, op), (in_, out_, count_, type_, large), fresh(0), right(0, count_));
        FORMS(Scan, Iscan, (MPI_IN_PLACE, out_, count_, type_, op), (MPI_IN_PLACE, out_, count_, type_, large), fresh(1), right(0, count_));
        if (me_ > 0)
            expect(0, me_ - 1);
        FORMS(Exscan, Iexscan, (in_, out_, count_, type_, op), (in_, out_, count_, type_, large), fresh(0),
              me_ > 0 ? right(0, count_) : untouched());
        /* In one rank: of this one's vector and the next one's. */
        fresh(0);
        vector(me_ + 1, out_);
        vector(me_ + 1, expected_);
        (commutes_ ? merged : composed)(in_, expected_);
        OK(MPI_Reduce_local(in_, out_, count_, type_, op));
        CHECK(right(0, count_) && calls_ == 1);
    }
    free(blocks);
    free(large_blocks);
}

static void compose_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    seen((int)*count, *type);
    if (*count == count_)
        composed(in, inout);
}

static void merge_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    seen((int)*count, *type);
    if (*count == count_)
        merged(in, inout);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Info_create(&info));
    MPI_Datatype spaced;
    OK(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spaced));
    OK(MPI_Type_commit(&spaced));
    size_t room = 3 * LARGEST * sizeof(int);
    in_ = malloc(room), out_ = malloc(room), expected_ = malloc(room), scratch_ = malloc(room);
    MPI_Comm half, between = MPI_COMM_NULL;
    if (size_ > 1) {
        OK(MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, rank_, &half));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank_ % 2, 3, &between));
    }
    for (commutes_ = 0; commutes_ < 2; commutes_++) {
        MPI_Op op, large;
        OK(MPI_Op_create(commutes_ ? merge : compose, commutes_, &op));
        OK(MPI_Op_create_c(commutes_ ? merge_large : compose_large, commutes_, &large));
        for (int which = 0; which < 6; which++) {
            count_ = (int[]){1, 6, 24, 1000, 3000, LARGEST}[which];
            for (int derived = 0; derived < 2; derived++) {
                type_ = derived ? spaced : MPI_INT;
                stride_ = derived ? 3 : 1;
                comm = MPI_COMM_WORLD;
                reductions(op, large);
                comm = between;
                if (comm != MPI_COMM_NULL)
                    reductions(op, large);
            }
        }
        OK(MPI_Op_free(&op));
        OK(MPI_Op_free(&large));
    }
    OK(MPI_Type_free(&spaced));
    OK(MPI_Info_free(&info));
    if (size_ > 1) {
        OK(MPI_Comm_free(&between));
        OK(MPI_Comm_free(&half));
    }
    return finish("whole");
}
