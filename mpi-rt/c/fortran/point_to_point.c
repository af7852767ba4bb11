/* Fortran bindings of the functions in margay/point_to_point.h. See fortran.h. */
#include "fortran.h"

FORTRAN(bsend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Bsend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm));
}

FORTRAN(bsend_init, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Bsend_init(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm),
        &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(buffer_attach, (void *buffer, const MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Buffer_attach(BUFFER(buffer), *size);
}

FORTRAN(buffer_flush, (MPI_Fint *ierror))
{
    *ierror = MPI_Buffer_flush();
}

FORTRAN(buffer_iflush, (MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Buffer_iflush(&c_request);
    PUT(Request, request, c_request);
}

FORTRAN(cancel, (MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_Request_f2c(*request);
    *ierror = MPI_Cancel(&c_request);
    PUT_BACK(Request, request, c_request);
}

FORTRAN(comm_attach_buffer, (const MPI_Fint *comm, void *buffer, const MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_attach_buffer(MPI_Comm_f2c(*comm), BUFFER(buffer), *size);
}

FORTRAN(comm_flush_buffer, (const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_flush_buffer(MPI_Comm_f2c(*comm));
}

FORTRAN(comm_iflush_buffer, (const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Comm_iflush_buffer(MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ibsend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ibsend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(improbe, (const MPI_Fint *source, const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *flag,
        MPI_Fint *message, MPI_Fint *status, MPI_Fint *ierror))
{
    MPI_Message c_message = MPI_MESSAGE_NULL;
    *ierror = MPI_Improbe(*source, *tag, MPI_Comm_f2c(*comm), flag, &c_message, STATUS(status));
    PUT(Message, message, c_message);
}

FORTRAN(imrecv, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, MPI_Fint *message, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Message c_message = MPI_Message_f2c(*message);
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Imrecv(BUFFER(buf), *count, MPI_Type_f2c(*datatype), &c_message, &c_request);
    PUT_BACK(Message, message, c_message);
    PUT(Request, request, c_request);
}

FORTRAN(iprobe, (const MPI_Fint *source, const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *status,
        MPI_Fint *ierror))
{
    *ierror = MPI_Iprobe(*source, *tag, MPI_Comm_f2c(*comm), flag, STATUS(status));
}

FORTRAN(irecv, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *source,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Irecv(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *source, *tag, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(irsend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Irsend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(isend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Isend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(isendrecv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, const MPI_Fint *dest,
        const MPI_Fint *sendtag, void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
        const MPI_Fint *source, const MPI_Fint *recvtag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Isendrecv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), *dest, *sendtag, BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), *source, *recvtag, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(isendrecv_replace, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *sendtag, const MPI_Fint *source, const MPI_Fint *recvtag, const MPI_Fint *comm,
        MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Isendrecv_replace(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *sendtag, *source, *recvtag,
        MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(issend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Issend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(mprobe, (const MPI_Fint *source, const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *message,
        MPI_Fint *status, MPI_Fint *ierror))
{
    MPI_Message c_message = MPI_MESSAGE_NULL;
    *ierror = MPI_Mprobe(*source, *tag, MPI_Comm_f2c(*comm), &c_message, STATUS(status));
    PUT(Message, message, c_message);
}

FORTRAN(mrecv, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, MPI_Fint *message, MPI_Fint *status,
        MPI_Fint *ierror))
{
    MPI_Message c_message = MPI_Message_f2c(*message);
    *ierror = MPI_Mrecv(BUFFER(buf), *count, MPI_Type_f2c(*datatype), &c_message, STATUS(status));
    PUT_BACK(Message, message, c_message);
}

FORTRAN(parrived, (const MPI_Fint *request, const MPI_Fint *partition, MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Parrived(MPI_Request_f2c(*request), *partition, flag);
}

FORTRAN(pready, (const MPI_Fint *partition, const MPI_Fint *request, MPI_Fint *ierror))
{
    *ierror = MPI_Pready(*partition, MPI_Request_f2c(*request));
}

FORTRAN(pready_list, (const MPI_Fint *length, const MPI_Fint *array_of_partitions, const MPI_Fint *request,
        MPI_Fint *ierror))
{
    *ierror = MPI_Pready_list(*length, array_of_partitions, MPI_Request_f2c(*request));
}

FORTRAN(pready_range, (const MPI_Fint *partition_low, const MPI_Fint *partition_high, const MPI_Fint *request,
        MPI_Fint *ierror))
{
    *ierror = MPI_Pready_range(*partition_low, *partition_high, MPI_Request_f2c(*request));
}

FORTRAN(precv_init, (void *buf, const MPI_Fint *partitions, const MPI_Count *count, const MPI_Fint *datatype,
        const MPI_Fint *source, const MPI_Fint *tag, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Precv_init(BUFFER(buf), *partitions, *count, MPI_Type_f2c(*datatype), *source, *tag,
        MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(probe, (const MPI_Fint *source, const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *status,
        MPI_Fint *ierror))
{
    *ierror = MPI_Probe(*source, *tag, MPI_Comm_f2c(*comm), STATUS(status));
}

FORTRAN(psend_init, (const void *buf, const MPI_Fint *partitions, const MPI_Count *count, const MPI_Fint *datatype,
        const MPI_Fint *dest, const MPI_Fint *tag, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Psend_init(BUFFER(buf), *partitions, *count, MPI_Type_f2c(*datatype), *dest, *tag,
        MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(recv, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *source,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror))
{
    *ierror = MPI_Recv(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *source, *tag, MPI_Comm_f2c(*comm),
        STATUS(status));
}

FORTRAN(recv_init, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *source,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Recv_init(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *source, *tag, MPI_Comm_f2c(*comm),
        &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(request_free, (MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_Request_f2c(*request);
    *ierror = MPI_Request_free(&c_request);
    PUT_BACK(Request, request, c_request);
}

FORTRAN(request_get_status, (const MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror))
{
    *ierror = MPI_Request_get_status(MPI_Request_f2c(*request), flag, STATUS(status));
}

FORTRAN(rsend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Rsend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm));
}

FORTRAN(rsend_init, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Rsend_init(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm),
        &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(send, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Send(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm));
}

FORTRAN(send_init, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Send_init(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm),
        &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(sendrecv, (const void *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, const MPI_Fint *dest,
        const MPI_Fint *sendtag, void *recvbuf, const MPI_Fint *recvcount, const MPI_Fint *recvtype,
        const MPI_Fint *source, const MPI_Fint *recvtag, const MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierror))
{
    *ierror = MPI_Sendrecv(BUFFER(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), *dest, *sendtag, BUFFER(recvbuf),
        *recvcount, MPI_Type_f2c(*recvtype), *source, *recvtag, MPI_Comm_f2c(*comm), STATUS(status));
}

FORTRAN(sendrecv_replace, (void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *sendtag, const MPI_Fint *source, const MPI_Fint *recvtag, const MPI_Fint *comm,
        MPI_Fint *status, MPI_Fint *ierror))
{
    *ierror = MPI_Sendrecv_replace(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *sendtag, *source, *recvtag,
        MPI_Comm_f2c(*comm), STATUS(status));
}

FORTRAN(session_attach_buffer, (const MPI_Fint *session, void *buffer, const MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Session_attach_buffer(MPI_Session_f2c(*session), BUFFER(buffer), *size);
}

FORTRAN(session_flush_buffer, (const MPI_Fint *session, MPI_Fint *ierror))
{
    *ierror = MPI_Session_flush_buffer(MPI_Session_f2c(*session));
}

FORTRAN(session_iflush_buffer, (const MPI_Fint *session, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Session_iflush_buffer(MPI_Session_f2c(*session), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(ssend, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Ssend(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm));
}

FORTRAN(ssend_init, (const void *buf, const MPI_Fint *count, const MPI_Fint *datatype, const MPI_Fint *dest,
        const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Ssend_init(BUFFER(buf), *count, MPI_Type_f2c(*datatype), *dest, *tag, MPI_Comm_f2c(*comm),
        &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(start, (MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_Request_f2c(*request);
    *ierror = MPI_Start(&c_request);
    PUT_BACK(Request, request, c_request);
}

FORTRAN(status_get_error, (const MPI_Fint *status, MPI_Fint *err, MPI_Fint *ierror))
{
    *ierror = MPI_Status_get_error((const MPI_Status *)status, err);
}

FORTRAN(status_get_source, (const MPI_Fint *status, MPI_Fint *source, MPI_Fint *ierror))
{
    *ierror = MPI_Status_get_source((const MPI_Status *)status, source);
}

FORTRAN(status_get_tag, (const MPI_Fint *status, MPI_Fint *tag, MPI_Fint *ierror))
{
    *ierror = MPI_Status_get_tag((const MPI_Status *)status, tag);
}

FORTRAN(status_set_cancelled, (MPI_Fint *status, const MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Status_set_cancelled(STATUS(status), *flag);
}

FORTRAN(status_set_error, (MPI_Fint *status, const MPI_Fint *err, MPI_Fint *ierror))
{
    *ierror = MPI_Status_set_error(STATUS(status), *err);
}

FORTRAN(status_set_source, (MPI_Fint *status, const MPI_Fint *source, MPI_Fint *ierror))
{
    *ierror = MPI_Status_set_source(STATUS(status), *source);
}

FORTRAN(status_set_tag, (MPI_Fint *status, const MPI_Fint *tag, MPI_Fint *ierror))
{
    *ierror = MPI_Status_set_tag(STATUS(status), *tag);
}

FORTRAN(test, (MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_Request_f2c(*request);
    *ierror = MPI_Test(&c_request, flag, STATUS(status));
    PUT_BACK(Request, request, c_request);
}

FORTRAN(test_cancelled, (const MPI_Fint *status, MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Test_cancelled((const MPI_Status *)status, flag);
}

FORTRAN(wait, (MPI_Fint *request, MPI_Fint *status, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_Request_f2c(*request);
    *ierror = MPI_Wait(&c_request, STATUS(status));
    PUT_BACK(Request, request, c_request);
}
