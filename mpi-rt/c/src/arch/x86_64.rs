//! x86-64: the two names of a function.
//!
//! Both lead to the function by a jump, which needs no knowledge of where the compiler has put it. The `MPI_` name is weak: a
//! tool that defines its own takes its place (MPI-5.0, section 15.2.1).

/// Gives a function the symbols `PMPI_name` and, weak, `MPI_name`.
#[macro_export]
macro_rules! export {
    ($name:expr, $function:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.MPI_", $name, ",\"ax\",@progbits"),
            concat!(".globl PMPI_", $name),
            concat!(".type PMPI_", $name, ",@function"),
            concat!("PMPI_", $name, ":"),
            concat!(".weak MPI_", $name),
            concat!(".type MPI_", $name, ",@function"),
            concat!("MPI_", $name, ":"),
            "jmp {function}",
            ".popsection",
            function = sym $function,
        );
    };
}
