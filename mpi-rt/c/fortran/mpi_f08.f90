! The module mpi_f08 (MPI-5.0, section 19.1.2). Its procedures are made of mpi-rt/c/description (tools/bindings); behind them stand the C functions of
! the same names (sections.h).
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  use mpi_f08_types
  implicit none
  public
  private c_ptr

  include 'modern_procedures.inc'

  ! Between statuses of both kinds of modules.
  interface MPI_Status_f2f08
    subroutine MPI_Status_f2f08_f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_f2f08_f08
  end interface MPI_Status_f2f08
  interface MPI_Status_f082f
    subroutine MPI_Status_f082f_f08(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Status_f082f_f08
  end interface MPI_Status_f082f
  interface PMPI_Status_f2f08
    subroutine PMPI_Status_f2f08_f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Status_f2f08_f08
  end interface PMPI_Status_f2f08
  interface PMPI_Status_f082f
    subroutine PMPI_Status_f082f_f08(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, optional, intent(out) :: ierror
    end subroutine PMPI_Status_f082f_f08
  end interface PMPI_Status_f082f
end module mpi_f08
