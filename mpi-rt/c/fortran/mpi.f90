! The module mpi: the constants of mpif.h. Procedures are external; margay-fc lets calls of one procedure with buffers of different types
! pass (-fallow-argument-mismatch), which is what choice buffers are in a language without them.
module mpi
  implicit none
  public
  include 'mpif.h'
end module mpi
