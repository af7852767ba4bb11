//! Whether the compiler refuses wrong calls of module `mpi_f08`'s procedures, and of `mpi`'s: their interfaces are explicit.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Test;
use crate::needs::Needs;
use lwk::cc;
use lwk::subcommand::Lwk;

/// A program whose making makes the modules, too.
const PROGRAM: &str = "conformance/f08_messages.f90";
/// A program in Fortran 2008.
const STRICT: &str = "apps/fortran/wave.f90";
/// Calls, and whether module `mpi_f08` takes them. Declared: `x` (real), `n`, `code`, `large` (of `MPI_COUNT_KIND`), `comm`, `type`, `op`, `request`, `status`.
const MODERN: [(&str, bool); 22] = [
    ("call MPI_Send(x, 1, MPI_REAL, 0, 1, comm)", true),
    ("call MPI_Send(x, large, MPI_REAL, 0, 1, comm, code)", true),
    ("call MPI_Recv(x, 1, MPI_REAL, 0, 1, comm, MPI_STATUS_IGNORE)", true),
    ("call MPI_Comm_rank(rank=n, comm=comm)", true),
    ("if (comm == MPI_COMM_WORLD) n = 1", true),
    ("call MPI_Op_create(own, .true., op)", true),
    ("call MPI_Send(x, 1, comm, 0, 1, MPI_REAL)", false),
    ("call MPI_Send(x, 1, MPI_REAL, 0, 1)", false),
    ("call MPI_Send(x, 1.0, MPI_REAL, 0, 1, comm)", false),
    ("call MPI_Send(x, 1, MPI_REAL, 0, large, comm)", false),
    ("call MPI_Send(x, 1, MPI_REAL, 0, 1, 257)", false),
    ("call MPI_Recv(x, 1, MPI_REAL, 0, 1, comm)", false),
    ("call MPI_Recv(x, 1, MPI_REAL, 0, 1, comm, n)", false),
    ("call MPI_Comm_rank(comm, 3)", false),
    ("call MPI_Comm_rank(comm, x)", false),
    ("if (comm == type) n = 1", false),
    ("n = comm", false),
    ("call MPI_Op_create(other, .true., op)", false),
    ("call MPI_Cart_create(comm, 1, [n], [1], .true., comm)", false),
    ("call MPI_Waitall(1, request, MPI_STATUSES_IGNORE)", false),
    ("call MPI_Address(x, n)", false),
    ("call MPI_Comm_free(MPI_COMM_WORLD)", false),
];
/// The same of module `mpi`.
const OLDER: [(&str, bool); 5] = [
    ("call MPI_Send(x, 1, MPI_REAL, 0, 1, MPI_COMM_WORLD, code)", true),
    ("call PMPI_Comm_rank(MPI_COMM_WORLD, n, code)", true),
    ("call MPI_Send(x, 1, MPI_REAL, 0, 1, MPI_COMM_WORLD)", false),
    ("call MPI_Comm_spawn('a', MPI_ARGV_NULL, 1, 2, 3, 4, 5, 6)", false),
    ("n = MPI_Wtime(3)", false),
];

/// The test that they are.
pub fn test() -> Test {
    let sources = vec![Path::new(PROGRAM).to_owned()];
    Test {
        name: "fortran-refuses-wrong-calls".into(),
        alone: false,
        on_host: true,
        sources,
        needs: Needs::Any,
        run: Box::new(check),
    }
}

fn check(lwk: &Lwk) -> Result<(), String> {
    for (call, right) in MODERN {
        let declared = "  type(MPI_Comm) :: comm\n  type(MPI_Datatype) :: type\n  type(MPI_Op) :: op\n  type(MPI_Request) :: request\n  \
             type(MPI_Status) :: status\n";
        judge(lwk, "mpi_f08", declared, call, right)?;
    }
    OLDER.into_iter().try_for_each(|(call, right)| judge(lwk, "mpi", "", call, right))?;
    // A program that keeps to the standard compiles when nothing else is allowed.
    let output = compiler(lwk).args(["-std=f2008", "-pedantic"]).arg(lwk.tree().root().join(STRICT)).output();
    let output = output.map_err(|error| format!("margay-fc: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{STRICT} is not Fortran 2008:\n{told}")) }
}

/// The wrapper of the compiler, which checks and writes nothing.
fn compiler(lwk: &Lwk) -> Command {
    let mut command = Command::new(cc::prefix(lwk.tree()).join("bin/margay-fc"));
    command.arg("-fsyntax-only");
    command
}

/// Compiles a program with one call.
fn judge(lwk: &Lwk, module: &str, declared: &str, call: &str, right: bool) -> Result<(), String> {
    let functions = "contains\n  subroutine own(invec, inoutvec, len, datatype)\n    use mpi_f08, only: MPI_Datatype\n    \
         use, intrinsic :: iso_c_binding, only: c_ptr\n    type(c_ptr), value :: invec, inoutvec\n    integer :: len\n    \
         type(MPI_Datatype) :: datatype\n  end subroutine own\n  subroutine other(len)\n    integer :: len\n  end subroutine other\n";
    let program = format!(
        "program it\n  use {module}\n  implicit none (type, external)\n  real :: x\n  integer :: n, code\n  integer(MPI_COUNT_KIND) :: large\n{declared}  {call}\n\
         {functions}end program it\n"
    );
    let folder = lwk.folder()?;
    let file = folder.file("it.f90");
    fs::write(&file, program).map_err(|error| format!("{}: {error}", file.display()))?;
    let output = compiler(lwk).args(["-std=f2018", "-w"]).arg(&file).output();
    let output = output.map_err(|error| format!("margay-fc: {error}"))?;
    match (output.status.success(), right) {
        (true, true) | (false, false) => Ok(()),
        (true, false) => Err(format!("the compiler takes `{call}` with module {module}")),
        (false, true) => Err(format!(
            "the compiler refuses `{call}` with module {module}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
