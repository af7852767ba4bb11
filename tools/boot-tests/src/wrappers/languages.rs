//! The wrappers for C++ and Fortran, several languages at once, and musl.

use std::fs;
use std::process::Command;

use lwk::subcommand::Lwk;

use super::{RESULT, SOURCE, bin, output, runs, wrapper, write};

/// Streams and folders of C++'s standard library.
pub(super) fn cxx_files(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.cpp"), folder.file("it"));
    write(
        &source,
        "#include <chrono>\n#include <filesystem>\n#include <fstream>\n#include <iostream>\n#include <random>\n#include <string>\n\
         #include <thread>\nnamespace fs = std::filesystem;\n#define THAT(it) if (!(it)) return __LINE__\n\
         int main() {\n  fs::path top = \"/tmp/cxx\" + std::to_string(std::random_device{}());\n\
         THAT(fs::create_directories(top / \"below\"));\n  { std::ofstream out(top / \"below\" / \"it\"); out << \"hello \" << 3.5 << std::endl; }\n\
         std::string word; double number = 0;\n  { std::ifstream in(top / \"below\" / \"it\"); in >> word >> number; }\n\
         THAT(word == \"hello\" && number == 3.5);\n  THAT(fs::copy_file(top / \"below\" / \"it\", top / \"copy\"));\n\
         THAT(fs::file_size(top / \"copy\") == 10);\n  int entries = 0;\n\
         for (auto &entry : fs::recursive_directory_iterator(top)) entries += entry.is_regular_file() ? 1 : 10;\n  THAT(entries == 12);\n\
         fs::resize_file(top / \"copy\", 3);\n  fs::last_write_time(top / \"copy\", fs::file_time_type::clock::now());\n\
         fs::permissions(top / \"copy\", fs::perms::owner_all);\n  fs::rename(top / \"copy\", top / \"below\" / \"it\");\n\
         THAT(fs::file_size(top / \"below\" / \"it\") == 3);\n  std::error_code code;\n\
         fs::create_symlink(\"below/it\", top / \"link\", code);\n  THAT(!code && fs::is_symlink(top / \"link\"));\n\
         THAT(fs::read_symlink(top / \"link\") == \"below/it\" && fs::file_size(top / \"link\") == 3);\n\
         { std::fstream both(top / \"both\", std::ios::in | std::ios::out | std::ios::trunc); both << \"abc\"; both.seekg(1); THAT(both.get() == 'b'); }\n\
         { std::ofstream more(top / \"both\", std::ios::app); more << \"def\"; }\n  THAT(fs::file_size(top / \"both\") == 6);\n\
         THAT(fs::remove_all(top) == 5 && !fs::exists(top));\n\
         std::this_thread::sleep_for(std::chrono::milliseconds(1));\n  std::cout << \"all there \" << fs::current_path() << std::endl;\n}\n",
    )?;
    let mut command = Command::new(bin(lwk).join("margay-c++"));
    output(command.args(["-std=c++17", "-O1"]).arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "all there \"/\"\nall there \"/\"\n")
}

/// Fortran's files: formatted, stream, direct, scratch, appended, inquired about.
pub(super) fn fortran_files(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.f90"), folder.file("it"));
    write(
        &source,
        "program it\n  implicit none\n  integer :: u, i, bytes\n  real(8) :: x(100), y(100)\n  character(40) :: name, text\n  logical :: there\n\
         call random_number(x)\n  write(name, '(a,i0)') '/tmp/fortran', getpid()\n\
         open(newunit=u, file=name, form='unformatted', access='stream', status='replace')\n  write(u) x\n  close(u)\n\
         open(newunit=u, file=name, form='unformatted', access='stream', status='old', action='read')\n  read(u) y\n  close(u, status='delete')\n\
         if (any(x /= y)) stop 1\n  inquire(file=name, exist=there)\n  if (there) stop 2\n\
         open(newunit=u, file=name, status='new', action='readwrite')\n  do i = 1, 10\n    write(u, '(i5)') i\n  end do\n  rewind(u)\n  read(u, *) i\n\
         if (i /= 1) stop 3\n  read(u, *) i\n  backspace(u)\n  read(u, '(a)') text\n  if (text /= '    2') stop 4\n  flush(u)\n  close(u)\n\
         open(newunit=u, file=name, position='append')\n  write(u, '(a)') 'more'\n  endfile(u)\n  close(u)\n  inquire(file=name, size=bytes)\n\
         if (bytes /= 65) stop 5\n\
         open(newunit=u, file=name, status='replace', access='direct', recl=80, form='unformatted')\n  write(u, rec=5) x(1:10)\n  read(u, rec=5) y(11:20)\n\
         if (any(y(11:20) /= x(1:10))) stop 6\n  close(u, status='delete')\n  open(newunit=u, status='scratch')\n  write(u, *) 42\n  rewind(u)\n  read(u, *) i\n\
         if (i /= 42) stop 7\n  close(u)\n  open(newunit=u, file='/not/there', status='old', iostat=i)\n  if (i == 0) stop 8\n\
         print '(a)', 'all there'\nend program\n",
    )?;
    output(Command::new(bin(lwk).join("margay-fc")).arg("-O1").arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "all there\nall there\n")
}

/// Objects in C, C++ and Fortran are one program, with all their libraries, and OpenMP's runs with one thread, whatever it asks for.
pub(super) fn mixed(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    write(
        &folder.file("c.c"),
        "#include <mpi.h>\n#include <omp.h>\n#include <stdio.h>\nvoid in_cxx(int *); void in_fortran_(int *);\n\
         int main(int argc, char **argv) {\n  int rank, all, sum = 0, threads = 0;\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  omp_set_num_threads(4);\n\
         #pragma omp parallel num_threads(3) reduction(+ : threads)\n  threads += 1;\n\
         #pragma omp parallel for reduction(+ : sum)\n  for (int i = 0; i < 10; i++) sum += i;\n\
         in_cxx(&sum); in_fortran_(&sum);\n  MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);\n\
         if (rank == 0) printf(\"mixed %d, %d thread\\n\", all, threads);\n  return MPI_Finalize();\n}\n",
    )?;
    write(
        &folder.file("cxx.cpp"),
        "#include <mpi.h>\n#include <stdexcept>\n#include <string>\nextern \"C\" void in_cxx(int *sum) {\n\
         try { throw std::runtime_error(std::to_string(*sum)); } catch (std::exception &it) { *sum = std::stoi(it.what()) + 100; }\n\
         int size; MPI_Comm_size(MPI_COMM_WORLD, &size); *sum += size;\n}\n",
    )?;
    write(
        &folder.file("f.f90"),
        "subroutine in_fortran(sum)\n  use mpi\n  implicit none\n  integer :: sum, size, code, i\n  character(20) :: text\n\
         call MPI_Comm_size(MPI_COMM_WORLD, size, code)\n  write(text, '(i0)') sum\n  read(text, *) sum\n  !$omp parallel do reduction(+:sum)\n\
         do i = 1, size\n    sum = sum + 1000\n  end do\nend subroutine\n",
    )?;
    let objects =
        [("margay-cc", "c.c"), ("margay-c++", "cxx.cpp"), ("margay-fc", "f.f90")].map(|(wrapper, name)| {
            let object = folder.file(name).with_extension("o");
            let mut command = Command::new(bin(lwk).join(wrapper));
            output(command.args(["-O2", "-fopenmp", "-c"]).arg(folder.file(name)).arg("-o").arg(&object), 0)?;
            Ok::<_, String>(object)
        });
    let objects = objects.into_iter().collect::<Result<Vec<_>, _>>()?;
    // By each language's own wrapper, with the libraries of the others.
    for (wrapper, further) in [
        ("mpicc", &["-lmpifort", "-lgfortran", "-lquadmath", "-lstdc++", "-lm"][..]),
        ("mpicxx", &["-lmpifort", "-lgfortran", "-lquadmath"]),
        ("mpifort", &["-lstdc++"]),
    ] {
        let program = folder.file(wrapper);
        let mut command = Command::new(bin(lwk).join(wrapper));
        output(command.arg("-fopenmp").args(&objects).args(further).arg("-o").arg(&program), 0)?;
        runs(lwk, &program, "mixed 4294, 1 thread\n")?;
    }
    Ok(())
}

/// `--libc musl` and its variable choose musl's library for C, and are refused in one line for what musl has no library for.
pub(super) fn musl(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let source = lwk.tree().root().join(SOURCE);
    for (index, options) in [&["--libc", "musl"][..], &["--libc=musl"], &[]].into_iter().enumerate() {
        let program = folder.file(&index.to_string());
        let mut command = wrapper(lwk);
        if options.is_empty() {
            command.env("MARGAY_LIBC", "musl");
        }
        output(command.args(options).args(["-O1", "-o"]).arg(&program).arg(&source), 0)?;
        let bytes = fs::read(&program).map_err(|error| error.to_string())?;
        if bytes.windows(5).any(|piece| piece == b"GLIBC") {
            return Err(format!("{options:?} links glibc"));
        }
        runs(lwk, &program, RESULT)?;
    }
    for (wrapper, libc) in [("mpicxx", "musl"), ("mpifort", "musl"), ("mpicc", "dietlibc")] {
        let told = output(Command::new(bin(lwk).join(wrapper)).args(["--libc", libc, "it.o"]), 2)?;
        if told.lines().count() != 1 || !told.contains("glibc") {
            return Err(format!("{wrapper} --libc {libc} says {told:?}"));
        }
    }
    Ok(())
}

/// A program in C++, with exceptions and the standard library.
pub(super) fn cxx(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.cpp"), folder.file("it"));
    write(
        &source,
        "#include <mpi.h>\n#include <iostream>\n#include <numeric>\n#include <stdexcept>\n#include <vector>\n\
         int main(int argc, char **argv) {\n  MPI_Init(&argc, &argv);\n  int rank, size, sum = 0;\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         std::vector<int> mine(10, rank + 1);\n  int own = std::accumulate(mine.begin(), mine.end(), 0);\n\
         MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n\
         try { if (rank == 0) throw std::runtime_error(\"caught\"); }\n\
         catch (const std::exception &it) { std::cout << it.what() << ' ' << sum << std::endl; }\n\
         MPI_Finalize();\n}\n",
    )?;
    output(Command::new(bin(lwk).join("margay-c++")).arg("-O2").arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "caught 30\n")
}
