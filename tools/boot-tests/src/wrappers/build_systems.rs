//! The wrappers as make, CMake's FindMPI and configure use them.

use std::process::Command;

use lwk::subcommand::Lwk;

use super::{RESULT, SOURCE, bin, output, runs, write};

/// The wrapper as make's `CC`.
pub(super) fn make(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let source = lwk.tree().root().join(SOURCE);
    let text =
        format!("messages: messages.o\nmessages.o: {0}\n\t$(CC) $(CFLAGS) -c {0} -o $@\n", source.display());
    write(&folder.file("Makefile"), &text)?;
    let mut cc = std::ffi::OsString::from("CC=");
    cc.push(bin(lwk).join("margay-cc"));
    output(Command::new("make").arg("-C").arg(folder.file("")).arg(cc).arg("CFLAGS=-O2"), 0)?;
    runs(lwk, &folder.file("messages"), RESULT)
}

/// CMake's own module finds MPI by the wrapper, and its imported target compiles and links: with the wrapper as the compiler, and with
/// another, which must be told to link statically, because the module passes no such option on.
pub(super) fn cmake(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(it C)\nfind_package(MPI REQUIRED COMPONENTS C)\n\
         add_executable(it {})\ntarget_link_libraries(it MPI::MPI_C)\n",
        lwk.tree().root().join(SOURCE).display()
    );
    write(&folder.file("CMakeLists.txt"), &text)?;
    let wrapper = bin(lwk).join("margay-cc");
    for (build, variable) in [("by-cc", "-DCMAKE_C_COMPILER="), ("by-mpicc", "-DMPI_C_COMPILER=")] {
        let mut option = std::ffi::OsString::from(variable);
        option.push(&wrapper);
        let build = folder.file(build);
        let mut command = Command::new("cmake");
        command.arg("-S").arg(folder.file("")).arg("-B").arg(&build).arg(option);
        if build.ends_with("by-mpicc") {
            command.arg("-DCMAKE_EXE_LINKER_FLAGS=-static -no-pie");
        }
        output(&mut command, 0)?;
        output(Command::new("cmake").arg("--build").arg(&build), 0)?;
        runs(lwk, &build.join("it"), RESULT)?;
    }
    Ok(())
}

/// The same for C++ and Fortran, with the wrappers as the compilers.
pub(super) fn cmake_cxx_fortran(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    write(
        &folder.file("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.16)\nproject(it C CXX Fortran)\nfind_package(MPI REQUIRED COMPONENTS C CXX Fortran)\n\
         add_executable(cxx it.cpp)\ntarget_link_libraries(cxx MPI::MPI_CXX)\n\
         add_executable(fortran it.f90)\ntarget_link_libraries(fortran MPI::MPI_Fortran)\n",
    )?;
    write(
        &folder.file("it.cpp"),
        "#include <mpi.h>\n#include <iostream>\nint main(int argc, char **argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) std::cout << \"C++ is here\" << std::endl;\n\
         return MPI_Finalize();\n}\n",
    )?;
    write(
        &folder.file("it.f90"),
        "program it\n  use mpi\n  implicit none\n  integer :: rank, code\n  call MPI_Init(code)\n\
         call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)\n  if (rank == 0) print '(a)', 'Fortran is here'\n\
         call MPI_Finalize(code)\nend program\n",
    )?;
    let build = folder.file("build");
    let mut command = Command::new("cmake");
    command.arg("-S").arg(folder.file("")).arg("-B").arg(&build);
    for (language, wrapper) in [("C", "margay-cc"), ("CXX", "margay-c++"), ("Fortran", "margay-fc")] {
        let mut option = std::ffi::OsString::from(format!("-DCMAKE_{language}_COMPILER="));
        option.push(bin(lwk).join(wrapper));
        command.arg(option);
    }
    output(&mut command, 0)?;
    output(Command::new("cmake").arg("--build").arg(&build), 0)?;
    runs(lwk, &build.join("cxx"), "C++ is here\n")?;
    runs(lwk, &build.join("fortran"), "Fortran is here\n")
}

/// A `configure` script that autoconf has made, and the Makefile that it makes, with the wrapper as `CC`.
pub(super) fn configure(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    write(
        &folder.file("configure.ac"),
        "AC_INIT([it], [1])\nAC_PROG_CC\nAC_CHECK_HEADERS([mpi.h shmem.h], [], [AC_MSG_ERROR([a header is missing])])\n\
         AC_CHECK_SIZEOF([long])\nAC_SEARCH_LIBS([MPI_Init], [mpi], [], [AC_MSG_ERROR([MPI is missing])])\n\
         AC_CHECK_FUNCS([MPI_Comm_spawn shmem_init no_such_function])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    )?;
    write(
        &folder.file("Makefile.in"),
        "CC = @CC@\nit: it.o\n\t$(CC) @CFLAGS@ @LDFLAGS@ -o $@ it.o @LIBS@\nit.o: it.c\n\t$(CC) @CFLAGS@ @CPPFLAGS@ @DEFS@ -c it.c\n",
    )?;
    write(
        &folder.file("it.c"),
        "#include <mpi.h>\n#include <stdio.h>\n#ifdef HAVE_NO_SUCH_FUNCTION\n#error found what is not there\n#endif\n\
         int main(int argc, char **argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) printf(\"configured %d %d %d\\n\", SIZEOF_LONG, \
         HAVE_MPI_COMM_SPAWN, HAVE_SHMEM_INIT);\n  return MPI_Finalize();\n}\n",
    )?;
    let here = folder.file("");
    output(Command::new("autoconf").current_dir(&here), 0)?;
    let mut cc = std::ffi::OsString::from("CC=");
    cc.push(bin(lwk).join("margay-cc"));
    output(Command::new("sh").arg("./configure").arg(cc).current_dir(&here), 0)?;
    output(Command::new("make").current_dir(&here), 0)?;
    runs(lwk, &folder.file("it"), "configured 8 1 1\n")
}
