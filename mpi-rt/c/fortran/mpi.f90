! The module mpi (MPI-5.0, section 19.1.3): the constants of mpif.h, MPI_Sizeof, the types of module mpi_f08, and interfaces of all procedures, which are
! made of mpi-rt/c/description (tools/bindings).
module mpi
  use mpi_f08_types, only: MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op
  use mpi_f08_types, only: MPI_Request, MPI_Session, MPI_Win, MPI_Status
  use mpi_f08_types, only: operator(==), operator(/=)
  implicit none
  public
  include 'older_constants.inc'
  include 'mpif_addresses.inc'
  include 'mpif_functions.inc'

  include 'older_procedures.inc'

  ! Bytes of a variable of any intrinsic type that is a number or a logical, of any rank (MPI-3.1, section 17.1.9; deprecated since MPI-4.0). The
  ! functions are in sizes.c.
  interface MPI_Sizeof
    subroutine margay_sizeof_integer1(x, size, ierror)
      integer(1), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_integer1
    subroutine margay_sizeof_integer2(x, size, ierror)
      integer(2), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_integer2
    subroutine margay_sizeof_integer4(x, size, ierror)
      integer(4), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_integer4
    subroutine margay_sizeof_integer8(x, size, ierror)
      integer(8), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_integer8
    subroutine margay_sizeof_integer16(x, size, ierror)
      integer(16), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_integer16
    subroutine margay_sizeof_real4(x, size, ierror)
      real(4), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_real4
    subroutine margay_sizeof_real8(x, size, ierror)
      real(8), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_real8
    subroutine margay_sizeof_real10(x, size, ierror)
      real(10), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_real10
    subroutine margay_sizeof_real16(x, size, ierror)
      real(16), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_real16
    subroutine margay_sizeof_complex4(x, size, ierror)
      complex(4), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_complex4
    subroutine margay_sizeof_complex8(x, size, ierror)
      complex(8), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_complex8
    subroutine margay_sizeof_complex10(x, size, ierror)
      complex(10), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_complex10
    subroutine margay_sizeof_complex16(x, size, ierror)
      complex(16), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_complex16
    subroutine margay_sizeof_logical1(x, size, ierror)
      logical(1), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_logical1
    subroutine margay_sizeof_logical2(x, size, ierror)
      logical(2), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_logical2
    subroutine margay_sizeof_logical4(x, size, ierror)
      logical(4), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_logical4
    subroutine margay_sizeof_logical8(x, size, ierror)
      logical(8), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_logical8
    subroutine margay_sizeof_logical16(x, size, ierror)
      logical(16), dimension(..), intent(in) :: x
      integer, intent(out) :: size, ierror
    end subroutine margay_sizeof_logical16
  end interface MPI_Sizeof

  interface PMPI_Sizeof
    procedure margay_sizeof_integer1, margay_sizeof_integer2, margay_sizeof_integer4, margay_sizeof_integer8
    procedure margay_sizeof_integer16, margay_sizeof_real4, margay_sizeof_real8, margay_sizeof_real10
    procedure margay_sizeof_real16, margay_sizeof_complex4, margay_sizeof_complex8, margay_sizeof_complex10
    procedure margay_sizeof_complex16, margay_sizeof_logical1, margay_sizeof_logical2, margay_sizeof_logical4
    procedure margay_sizeof_logical8, margay_sizeof_logical16
  end interface PMPI_Sizeof

  ! Between statuses of both kinds of modules.
  interface
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine MPI_Status_f2f08
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Status_f082f
    subroutine PMPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_f2f08
    subroutine PMPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine PMPI_Status_f082f
  end interface
end module mpi
