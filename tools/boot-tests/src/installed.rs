//! An installation as somebody uses it who has never seen the tree: from another folder, with an empty home, without cargo in `PATH`, and with
//! nothing where the tree is (a mount namespace in which an empty folder covers it).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Test;
use crate::needs::Needs;
use lwk::packages::find_command;
use lwk::subcommand::{Lwk, PATIENCE, without_machine};

/// Its test.
pub fn test() -> Test {
    Test {
        name: "installed-for-people-without-the-tree".into(),
        alone: false,
        on_host: false,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(check),
    }
}

/// A program that shows what it has of its surroundings: run it with one argument.
const SOURCE: &str = r#"#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    char line[64] = "nothing\n";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && argc > 1) {
        FILE *left = fopen("left", "w");
        if (!left || !fgets(line, sizeof line, stdin)) MPI_Abort(MPI_COMM_WORLD, 9);
        fprintf(left, "%s says %s", argv[1], line);
        fclose(left);
        printf("%s of %d\n", getenv("MARGAY_WORD") ? getenv("MARGAY_WORD") : "none", size);
    }
    MPI_Finalize();
    return argc > 2 ? atoi(argv[2]) : 0;
}
"#;
const CXX_SOURCE: &str = "#include <mpi.h>\n#include <iostream>\nint main(int argc, char **argv) {\n  int rank; MPI_Init(&argc, &argv);\n  \
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 1) std::cout << \"in C++\" << std::endl;\n  MPI_Finalize();\n}\n";
const FORTRAN_SOURCE: &str = "program it\n  use mpi\n  integer :: rank, code\n  call MPI_Init(code)\n  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)\n  \
    if (rank == 1) print '(a)', 'in Fortran'\n  call MPI_Finalize(code)\nend program\n";
const SHMEM_SOURCE: &str = "#include <shmem.h>\n#include <stdio.h>\nint main(void) {\n  shmem_init();\n  if (shmem_my_pe() == shmem_n_pes() - 1) \
    printf(\"PE %d\\n\", shmem_my_pe());\n  shmem_finalize();\n}\n";
const PORTALS_SOURCE: &str = "#include <portals4.h>\n#include <stdio.h>\nint main(void) {\n  ptl_handle_ni_t ni; ptl_process_t me;\n  \
    if (PtlInit() || PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &ni) || PtlGetId(ni, &me)) return 1;\n  \
    if (me.rank == 1) printf(\"Portals\\n\");\n  PtlFini();\n}\n";

/// Appends to a file, makes one, removes one, and writes one elsewhere if it is told where.
const FILES_SOURCE: &str = "#include <stdio.h>\nint main(int argc, char **argv) {\n  const char *names[] = {\"a\", \"b\", argc > 1 ? argv[1] : NULL};\n  \
    for (int i = 0; i < 3 && names[i]; i++) { FILE *it = fopen(names[i], \"a\"); if (!it) return 7; fputs(\"new\\n\", it); fclose(it); }\n  \
    remove(\"c\");\n}\n";

/// Each line is a command, its status, and what it prints, both streams together, as far as a `*`; in a shell in the folder with the sources.
const SCRIPT: &[(&str, i32, &str)] = &[
    ("mpicc -O2 it.c -o it && mpicxx -O2 it.cpp -o it-cxx && oshcc shmem.c -o it-shmem", 0, ""),
    ("echo hello | MARGAY_WORD=word mpiexec -n 2 ./it me && cat left", 0, "word of 2\nme says hello\n"),
    ("echo hello | mpirun -np 2 -x MARGAY_WORD=more it me 7; echo $?; rm left", 0, "more of 2\n*\n7\n"),
    (
        "mkdir below; echo hi | mpiexec -n 1 -wdir below -genv MARGAY_WORD a ./it me; cat below/left",
        0,
        "a of 1\nme says hi\n",
    ),
    ("echo hi | MARGAY_WORD=c mpiexec -envnone -n 1 ./it me", 0, "none of 1\n"),
    ("echo alone | MARGAY_WORD=b ./it me 5", 5, "b of 1\n"),
    ("mpicc portals.c -lportals -o it-portals && mpiexec -n 2 ./it-portals", 0, "Portals\n"),
    ("mpiexec -n 2 ./it-cxx; oshrun -np 2 ./it-shmem; ./it-shmem", 0, "in C++\nPE 1\nPE 0\n"),
    (
        "mpicc -static-pie -O2 it.c -o it-pie && od -An -tu2 -j16 -N2 it-pie && mpiexec -n 2 ./it-pie && mpiexec --node -n 2 ./it-pie",
        0,
        "     3\n",
    ),
    ("echo alone | MARGAY_WORD=b ./it-pie me 6", 6, "b of 1\n"),
    (
        "gcc -static-pie -O2 -I\"$PREFIX/include\" it.c -L\"$PREFIX/lib\" -lmpi -o it-pie && mpiexec -n 2 ./it-pie",
        0,
        "",
    ),
    (
        "mpicc -show x.c -o x",
        0,
        "gcc \"-I*/a prefix/include\" x.c -o x -static*\"-L*/a prefix/lib\" -lmpi -lm\n",
    ),
    ("mpicc -static-pie --libc musl it.c", 2, "mpicc: -static-pie needs glibc*\n"),
    ("mpicxx -pie it.cpp -o it-pie && mpiexec -n 2 ./it-pie", 0, "in C++\n"),
    (
        "mpiexec --bind-to core --mca btl self -n 2 ./it",
        0,
        "mpiexec: without effect*--bind-to core --mca btl self\n",
    ),
    ("mpiexec -n 1 ./it : -n 1 ./it-cxx", 2, "mpiexec: all ranks*\n"),
    ("mpiexec --oversubscribe -n 1 ./it : -n 2 ./it", 0, ""),
    ("mpiexec --no-such-option ./it", 2, "mpiexec: there is no option --no-such-option*\n"),
    ("mpiexec -n 2 ./no-such-program", 2, "mpiexec: there is no program ./no-such-program*\n"),
    ("mpiexec -n 2 it.c", 2, "*it.c*"),
    ("mpiexec -n 200 --mem 16 --nooversubscribe ./it", 2, "*--oversubscribe\n"),
    ("mpiexec -n 9 --mem 16 --oversubscribe ./it", 0, ""),
    (
        "mpiexec --version; mpicc -showme:version; margay --version",
        0,
        "mpiexec (Margay)*\nmpicc: Margay*\nmargay *\n",
    ),
    ("margay list | grep -c smap-ring; mpiexec -n 2 hello", 0, "1\nhello from rank*\nhello from rank*\n"),
    ("margay run --host -n 2 ./it && margay run --host --cwd -n 1 ./it", 0, ""),
    ("mpiexec --node -n 2 --mem 16 ./it-shmem", 0, "PE 1\n"),
    ("margay run -n 2 --mem 16 ./it", 0, ""),
    ("mpicc files.c -o it-files; mkdir box; echo old >box/a; echo x >box/c", 0, ""),
    (
        "margay run --cwd box --mem 16 ./it-files -- /elsewhere && cat box/a box/b; ls box",
        0,
        "lwk: lost with the job: /elsewhere; --out*\nold\nnew\nnew\na\nb\n",
    ),
    ("margay run --mem 16 ./it-files -- /elsewhere", 0, "margay: info: lost with the node: *elsewhere*\n"),
    ("margay run --host ./it-files -- /elsewhere", 0, "lwk: lost with the job: *elsewhere*\n"),
    ("cd box && echo x >c && margay run --host --cwd ../it-files && cat b && ls", 0, "new\nnew\na\nb\n"),
    ("margay run --host --cwd box --out x ./it-files", 2, "lwk: *--cwd*\n"),
    ("margay run --cwd /proc ./it-files", 2, "lwk: --cwd /proc: *\n"),
    ("cargo lwk list >other 2>&1 || echo none", 0, "none\n"),
];

fn check(lwk: &Lwk) -> Result<(), String> {
    let scratch = std::env::temp_dir().join(format!("margay-installed-{}", std::process::id()));
    // Of a test that was killed, whose process had the same number.
    let _ = fs::remove_dir_all(&scratch);
    let checked = in_folder(lwk, &scratch);
    // What is left is in the system's folder for such.
    let _ = fs::remove_dir_all(&scratch);
    checked
}

fn in_folder(lwk: &Lwk, scratch: &Path) -> Result<(), String> {
    let (prefix, folder) = (scratch.join("a prefix"), scratch.join("work"));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let words = ["install".into(), "--own".into(), prefix.clone().into_os_string()];
    let ended = lwk.command(&words, PATIENCE)?;
    if ended.status != Some(0) {
        return Err(format!("install ends with {:?}\n{}{}", ended.status, ended.stdout, ended.stderr));
    }
    let sources = [
        ("it.c", SOURCE),
        ("it.cpp", CXX_SOURCE),
        ("it.f90", FORTRAN_SOURCE),
        ("shmem.c", SHMEM_SOURCE),
        ("portals.c", PORTALS_SOURCE),
        ("files.c", FILES_SOURCE),
    ];
    for (name, text) in sources {
        fs::write(folder.join(name), text).map_err(|error| error.to_string())?;
    }
    let mut script: Vec<(&str, i32, &str)> = SCRIPT.to_vec();
    if find_command("gfortran").is_some() {
        script.push((
            "mpifort -O1 it.f90 -o it-fortran && mpiexec -n 2 ./it-fortran && ./it-fortran",
            0,
            "in Fortran\n",
        ));
    }
    if find_command("pkg-config").is_some() {
        let flags = "PKG_CONFIG_PATH=\"$PREFIX/lib/pkgconfig\" pkg-config --cflags --libs mpi";
        script.push((flags, 0, "-I*include*-static*-lmpi*\n"));
    }
    script.iter().try_for_each(|(line, status, wanted)| run(lwk, &prefix, &folder, line, *status, wanted))?;
    for file in [
        "share/man/man1/mpiexec.1",
        "share/man/man1/margay-run.1",
        "share/bash-completion/completions/margay",
    ] {
        if !prefix.join(file).is_file() {
            return Err(format!("there is no {file}"));
        }
    }
    Ok(())
}

/// Runs a line of the script where the tree is not.
fn run(lwk: &Lwk, prefix: &Path, folder: &Path, line: &str, status: i32, wanted: &str) -> Result<(), String> {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", prefix.join("bin").display());
    let home: PathBuf = folder.join("home");
    fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        "mount -t tmpfs none \"$1\" && exec sh -c \"$2\" 2>&1",
        "sh",
    ]);
    command.arg(lwk.tree().root()).arg(line).current_dir(folder);
    command.env_clear().env("PATH", path).env("HOME", home).env("PREFIX", prefix);
    let ended = command.output().map_err(|error| format!("unshare: {error}"))?;
    let told =
        without_machine(&(String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr)));
    if ended.status.code() != Some(status) || !matches(&told, wanted) {
        return Err(format!(
            "{line}\nends with {}, not {status}, and prints\n{told}not\n{wanted}",
            ended.status
        ));
    }
    Ok(())
}

/// Whether a text is as wanted, in which a `*` stands for anything.
fn matches(text: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        None => text == wanted,
        Some((front, rest)) => text.strip_prefix(front).is_some_and(|text| {
            (0..=text.len()).any(|at| text.is_char_boundary(at) && matches(&text[at..], rest))
        }),
    }
}
