/* Fortran bindings of the functions in margay/communicators.h. See fortran.h. */
#include "fortran.h"

FORTRAN(attr_delete, (const MPI_Fint *comm, const MPI_Fint *keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Attr_delete(MPI_Comm_f2c(*comm), *keyval);
}

FORTRAN(comm_compare, (const MPI_Fint *comm1, const MPI_Fint *comm2, MPI_Fint *result, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_compare(MPI_Comm_f2c(*comm1), MPI_Comm_f2c(*comm2), result);
}

FORTRAN(comm_create, (const MPI_Fint *comm, const MPI_Fint *group, MPI_Fint *newcomm, MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Comm_create(MPI_Comm_f2c(*comm), MPI_Group_f2c(*group), &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(comm_create_group, (const MPI_Fint *comm, const MPI_Fint *group, const MPI_Fint *tag, MPI_Fint *newcomm,
        MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Comm_create_group(MPI_Comm_f2c(*comm), MPI_Group_f2c(*group), *tag, &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(comm_delete_attr, (const MPI_Fint *comm, const MPI_Fint *comm_keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_delete_attr(MPI_Comm_f2c(*comm), *comm_keyval);
}

FORTRAN(comm_dup, (const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Comm_dup(MPI_Comm_f2c(*comm), &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(comm_dup_with_info, (const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Comm_dup_with_info(MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(comm_free, (MPI_Fint *comm, MPI_Fint *ierror))
{
    MPI_Comm c_comm = MPI_Comm_f2c(*comm);
    *ierror = MPI_Comm_free(&c_comm);
    PUT_BACK(Comm, comm, c_comm);
}

FORTRAN(comm_free_keyval, (MPI_Fint *comm_keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_free_keyval(comm_keyval);
}

FORTRAN(comm_get_info, (const MPI_Fint *comm, MPI_Fint *info_used, MPI_Fint *ierror))
{
    MPI_Info c_info_used = MPI_INFO_NULL;
    *ierror = MPI_Comm_get_info(MPI_Comm_f2c(*comm), &c_info_used);
    PUT(Info, info_used, c_info_used);
}

FORTRAN(comm_group, (const MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror))
{
    MPI_Group c_group = MPI_GROUP_NULL;
    *ierror = MPI_Comm_group(MPI_Comm_f2c(*comm), &c_group);
    PUT(Group, group, c_group);
}

FORTRAN(comm_idup, (const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Comm_idup(MPI_Comm_f2c(*comm), &c_newcomm, &c_request);
    PUT(Comm, newcomm, c_newcomm);
    PUT(Request, request, c_request);
}

FORTRAN(comm_idup_with_info, (const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *newcomm, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Comm_idup_with_info(MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_newcomm, &c_request);
    PUT(Comm, newcomm, c_newcomm);
    PUT(Request, request, c_request);
}

FORTRAN(comm_rank, (const MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_rank(MPI_Comm_f2c(*comm), rank);
}

FORTRAN(comm_remote_group, (const MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror))
{
    MPI_Group c_group = MPI_GROUP_NULL;
    *ierror = MPI_Comm_remote_group(MPI_Comm_f2c(*comm), &c_group);
    PUT(Group, group, c_group);
}

FORTRAN(comm_remote_size, (const MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_remote_size(MPI_Comm_f2c(*comm), size);
}

FORTRAN(comm_set_info, (const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_set_info(MPI_Comm_f2c(*comm), MPI_Info_f2c(*info));
}

FORTRAN(comm_size, (const MPI_Fint *comm, MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_size(MPI_Comm_f2c(*comm), size);
}

FORTRAN(comm_split, (const MPI_Fint *comm, const MPI_Fint *color, const MPI_Fint *key, MPI_Fint *newcomm,
        MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Comm_split(MPI_Comm_f2c(*comm), *color, *key, &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(comm_split_type, (const MPI_Fint *comm, const MPI_Fint *split_type, const MPI_Fint *key, const MPI_Fint *info,
        MPI_Fint *newcomm, MPI_Fint *ierror))
{
    MPI_Comm c_newcomm = MPI_COMM_NULL;
    *ierror = MPI_Comm_split_type(MPI_Comm_f2c(*comm), *split_type, *key, MPI_Info_f2c(*info), &c_newcomm);
    PUT(Comm, newcomm, c_newcomm);
}

FORTRAN(comm_test_inter, (const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_test_inter(MPI_Comm_f2c(*comm), flag);
}

FORTRAN(group_compare, (const MPI_Fint *group1, const MPI_Fint *group2, MPI_Fint *result, MPI_Fint *ierror))
{
    *ierror = MPI_Group_compare(MPI_Group_f2c(*group1), MPI_Group_f2c(*group2), result);
}

FORTRAN(group_difference, (const MPI_Fint *group1, const MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_difference(MPI_Group_f2c(*group1), MPI_Group_f2c(*group2), &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(group_excl, (const MPI_Fint *group, const MPI_Fint *n, const MPI_Fint *ranks, MPI_Fint *newgroup,
        MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_excl(MPI_Group_f2c(*group), *n, ranks, &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(group_free, (MPI_Fint *group, MPI_Fint *ierror))
{
    MPI_Group c_group = MPI_Group_f2c(*group);
    *ierror = MPI_Group_free(&c_group);
    PUT_BACK(Group, group, c_group);
}

FORTRAN(group_incl, (const MPI_Fint *group, const MPI_Fint *n, const MPI_Fint *ranks, MPI_Fint *newgroup,
        MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_incl(MPI_Group_f2c(*group), *n, ranks, &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(group_intersection, (const MPI_Fint *group1, const MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_intersection(MPI_Group_f2c(*group1), MPI_Group_f2c(*group2), &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(group_range_excl, (const MPI_Fint *group, const MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *newgroup,
        MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_range_excl(MPI_Group_f2c(*group), *n, ranges, &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(group_range_incl, (const MPI_Fint *group, const MPI_Fint *n, MPI_Fint ranges[][3], MPI_Fint *newgroup,
        MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_range_incl(MPI_Group_f2c(*group), *n, ranges, &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(group_rank, (const MPI_Fint *group, MPI_Fint *rank, MPI_Fint *ierror))
{
    *ierror = MPI_Group_rank(MPI_Group_f2c(*group), rank);
}

FORTRAN(group_size, (const MPI_Fint *group, MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Group_size(MPI_Group_f2c(*group), size);
}

FORTRAN(group_translate_ranks, (const MPI_Fint *group1, const MPI_Fint *n, const MPI_Fint *ranks1,
        const MPI_Fint *group2, MPI_Fint *ranks2, MPI_Fint *ierror))
{
    *ierror = MPI_Group_translate_ranks(MPI_Group_f2c(*group1), *n, ranks1, MPI_Group_f2c(*group2), ranks2);
}

FORTRAN(group_union, (const MPI_Fint *group1, const MPI_Fint *group2, MPI_Fint *newgroup, MPI_Fint *ierror))
{
    MPI_Group c_newgroup = MPI_GROUP_NULL;
    *ierror = MPI_Group_union(MPI_Group_f2c(*group1), MPI_Group_f2c(*group2), &c_newgroup);
    PUT(Group, newgroup, c_newgroup);
}

FORTRAN(intercomm_create, (const MPI_Fint *local_comm, const MPI_Fint *local_leader, const MPI_Fint *peer_comm,
        const MPI_Fint *remote_leader, const MPI_Fint *tag, MPI_Fint *newintercomm, MPI_Fint *ierror))
{
    MPI_Comm c_newintercomm = MPI_COMM_NULL;
    *ierror = MPI_Intercomm_create(MPI_Comm_f2c(*local_comm), *local_leader, MPI_Comm_f2c(*peer_comm), *remote_leader,
        *tag, &c_newintercomm);
    PUT(Comm, newintercomm, c_newintercomm);
}

FORTRAN(intercomm_merge, (const MPI_Fint *intercomm, const MPI_Fint *high, MPI_Fint *newintracomm, MPI_Fint *ierror))
{
    MPI_Comm c_newintracomm = MPI_COMM_NULL;
    *ierror = MPI_Intercomm_merge(MPI_Comm_f2c(*intercomm), *high, &c_newintracomm);
    PUT(Comm, newintracomm, c_newintracomm);
}

FORTRAN(keyval_free, (MPI_Fint *keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Keyval_free(keyval);
}
