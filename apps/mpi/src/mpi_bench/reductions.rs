//! `mpi-bench reductions`: every form of reduction on every type with every operation, pairs with their places included, beside the plain loop in
//! the same run.
//!
//! One contribution size, [`BYTES`] or the first of `--sizes`. Each form's time is given as a multiple of the plain loop's over the same elements
//! in this rank's own memory: what a program of one's own would take for the arithmetic alone. All results are checked.

use super::places::PLACES;
use super::{Bench, microseconds};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;
use lwk_mpi_rt::abi::{COMM_WORLD, datatype, op};
use lwk_mpi_rt::collective::{Call, Reducing};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::{Handle, Result};
use lwk_reduce::{Kernel, Number, Operator, kernel, plain};
use lwk_user::println;

/// Bytes of a contribution: in the second-level cache of most processors.
const BYTES: usize = 64 << 10;

const FORMS: [&str; 6] = ["local", "reduce", "allreduce", "scatter", "scan", "exscan"];

const OPERATIONS: [(&str, Operator, u64); 10] = [
    ("sum", Operator::Sum, op::SUM),
    ("prod", Operator::Product, op::PROD),
    ("min", Operator::Min, op::MIN),
    ("max", Operator::Max, op::MAX),
    ("band", Operator::And, op::BAND),
    ("bor", Operator::Or, op::BOR),
    ("bxor", Operator::Xor, op::BXOR),
    ("land", Operator::LogicalAnd, op::LAND),
    ("lor", Operator::LogicalOr, op::LOR),
    ("lxor", Operator::LogicalXor, op::LXOR),
];

/// The types of pairs, in the order of [`PLACES`]; value and index have as many bytes, or the index is followed by padding.
const PAIRS: [Kind; 3] = [
    Kind("2int", Number::I32, datatype::TWO_INT, 4, [1, 2]),
    Kind("float int", Number::F32, datatype::FLOAT_INT, 4, [0x3f80_0000, 0x4000_0000]),
    Kind("double int", Number::F64, datatype::DOUBLE_INT, 8, [0x3ff << 52, 0x400 << 52]),
];

/// Operations on pairs, in the order of [`PLACES`].
const LOCATIONS: [(&str, u64); 2] = [("minloc", op::MINLOC), ("maxloc", op::MAXLOC)];

/// A type: its name, its kernels, its handle, and the bytes of an element that is 1 and of one that is 2, as a number.
struct Kind(&'static str, Number, u64, usize, [u128; 2]);

const KINDS: [Kind; 18] = [
    Kind("int8", Number::I8, datatype::INT8, 1, [1, 2]),
    Kind("uint8", Number::U8, datatype::UINT8, 1, [1, 2]),
    Kind("int16", Number::I16, datatype::INT16, 2, [1, 2]),
    Kind("uint16", Number::U16, datatype::UINT16, 2, [1, 2]),
    Kind("int32", Number::I32, datatype::INT32, 4, [1, 2]),
    Kind("uint32", Number::U32, datatype::UINT32, 4, [1, 2]),
    Kind("int64", Number::I64, datatype::INT64, 8, [1, 2]),
    Kind("uint64", Number::U64, datatype::UINT64, 8, [1, 2]),
    Kind("real2", Number::F16, datatype::REAL2, 2, [0x3c00, 0x4000]),
    Kind("float", Number::F32, datatype::FLOAT, 4, [0x3f80_0000, 0x4000_0000]),
    Kind("double", Number::F64, datatype::DOUBLE, 8, [0x3ff << 52, 0x400 << 52]),
    Kind(
        "long double",
        Number::F80,
        datatype::LONG_DOUBLE,
        16,
        [0x3fff << 64 | 1 << 63, 0x4000 << 64 | 1 << 63],
    ),
    Kind("real16", Number::F128, datatype::REAL16, 16, [0x3fff << 112, 0x4000 << 112]),
    Kind("complex4", Number::C16, datatype::COMPLEX4, 2, [0x3c00, 0x4000]),
    Kind("complex8", Number::C32, datatype::C_FLOAT_COMPLEX, 4, [0x3f80_0000, 0x4000_0000]),
    Kind("complex16", Number::C64, datatype::C_DOUBLE_COMPLEX, 8, [0x3ff << 52, 0x400 << 52]),
    Kind(
        "complex20",
        Number::C80,
        datatype::C_LONG_DOUBLE_COMPLEX,
        16,
        [0x3fff << 64 | 1 << 63, 0x4000 << 64 | 1 << 63],
    ),
    Kind("complex32", Number::C128, datatype::COMPLEX32, 16, [0x3fff << 112, 0x4000 << 112]),
];

/// Times of one operation on one type.
struct Row {
    datatype: &'static str,
    operation: &'static str,
    /// Of the plain loop.
    microseconds: f64,
    /// Multiples of it, in the order of [`FORMS`].
    forms: [f64; FORMS.len()],
}
lwk_apps::json_object!(Row { datatype, operation, microseconds, forms });

/// Measures and prints. Whether results were wrong. Errors: those of the reductions.
pub fn run(bench: &Bench, as_json: bool) -> Result<bool> {
    let bytes = bench.options.sizes.as_ref().map_or(BYTES, |sizes| *sizes.start()).max(64);
    if bench.rank == 0 && !as_json {
        println!(
            "# lwk MPI reductions, {} ranks, {bytes} bytes of a contribution; forms: multiples of the plain loop",
            bench.size
        );
        println!("# {:<10} {:<6} {:>10} {}", "type", "op", "loop (us)", Names);
    }
    let (mut rows, mut wrong) = (Vec::new(), false);
    for (name, case) in cases(bench, bytes) {
        wrong |= case.check()?;
        let row = case.measure(name)?;
        if bench.rank == 0 && !as_json {
            println!(
                "{:<12} {:<6} {:>10.3} {}",
                row.datatype,
                row.operation,
                row.microseconds,
                Ratios(&row.forms)
            );
        }
        rows.push(row);
    }
    if bench.rank == 0 && as_json {
        lwk_apps::json::print(&rows);
    } else if bench.rank == 0 {
        println!("# {}", if wrong { "data WRONG" } else { "data verified" });
    }
    Ok(wrong)
}

/// Every operation on every type that it is defined for, with its name.
fn cases<'a, 'm>(bench: &'a Bench<'m>, bytes: usize) -> Vec<(&'static str, Case<'a, 'm>)> {
    let mut cases = Vec::new();
    let mut add = |name, kind, handle, simple, quick| {
        cases.push((name, Case { bench, kind, handle, simple, quick, count: bytes / element_bytes(kind) }));
    };
    for kind in &KINDS {
        for (name, operator, handle) in OPERATIONS {
            if let (Some(quick), Some(simple)) = (kernel(operator, kind.1), plain(operator, kind.1)) {
                add(name, kind, handle, simple, quick);
            }
        }
    }
    for (kind, places) in PAIRS.iter().zip(&PLACES) {
        for (which, (name, handle)) in LOCATIONS.into_iter().enumerate() {
            add(name, kind, handle, places.plain[which], places.quick[which]);
        }
    }
    cases
}

struct Names;

impl core::fmt::Display for Names {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        FORMS.iter().try_for_each(|form| write!(f, "{form:>10}"))
    }
}

struct Ratios<'a>(&'a [f64]);

impl core::fmt::Display for Ratios<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        self.0.iter().try_for_each(|ratio| write!(f, "{ratio:>10.2}"))
    }
}

fn is_complex(kind: &Kind) -> bool {
    matches!(kind.1, Number::C16 | Number::C32 | Number::C64 | Number::C80 | Number::C128)
}

fn is_pair(kind: &Kind) -> bool {
    PAIRS.iter().any(|pair| pair.2 == kind.2)
}

fn element_bytes(kind: &Kind) -> usize {
    if is_complex(kind) || is_pair(kind) { 2 * kind.3 } else { kind.3 }
}

/// An operation on a type.
struct Case<'a, 'm> {
    bench: &'a Bench<'m>,
    kind: &'a Kind,
    handle: u64,
    simple: Kernel,
    quick: Kernel,
    /// Elements of a contribution.
    count: usize,
}

impl Case<'_, '_> {
    /// What a rank contributes: ones and twos, so that every operation is exact in any order. (As 128-bit words, since that aligns all types.)
    fn contribution(&self, rank: u32, count: usize) -> Vec<u128> {
        let Kind(_, _, _, bytes, values) = self.kind;
        let total = count * element_bytes(self.kind);
        let mut content = vec![0u128; total.div_ceil(16)];
        for number in 0..total / bytes {
            let value = values[(number / 3 + rank as usize) % 2];
            content[number * bytes / 16] |= value << (number * bytes % 16 * 8);
        }
        content
    }

    /// The plain loop over the contributions of the ranks up to `last`.
    fn expected(&self, last: u32, count: usize) -> Vec<u128> {
        let mut result = self.contribution(last, count);
        for rank in (0..last).rev() {
            let left = self.contribution(rank, count);
            let at = result.as_mut_ptr().cast::<u8>();
            // SAFETY: both hold `count` elements; the target is the second source.
            unsafe { (self.simple)(left.as_ptr().cast(), at, at, core::ptr::null_mut(), count) };
        }
        result
    }

    /// The call of a form, by its place in [`FORMS`]; none for the local one.
    fn call(&self, form: usize, send: &[u128], receive: &mut [u128], count: usize) -> Option<Call<'static>> {
        let reducing = Reducing {
            send: send.as_ptr().cast(),
            receive: receive.as_mut_ptr().cast(),
            count: count as i64,
            datatype: self.kind.2,
            operation: self.handle,
        };
        Some(match form {
            0 => return None,
            1 => Call::Reduce { reducing, root: 0 },
            2 => Call::Allreduce { reducing },
            3 => Call::ReduceScatterBlock { reducing },
            4 => Call::Scan { reducing },
            _ => Call::Exscan { reducing },
        })
    }

    fn act(&self, form: usize, send: &[u128], receive: &mut [u128], count: usize) -> Result<()> {
        match self.call(form, send, receive, count) {
            // SAFETY: the buffers hold the elements, and outlive the call.
            Some(call) => with(|engine| unsafe { engine.collective(&call, Handle(COMM_WORLD)) }),
            None => {
                let at = receive.as_mut_ptr().cast::<u8>();
                // SAFETY: both hold `count` elements; the target is the second source.
                unsafe { (self.quick)(send.as_ptr().cast(), at, at, core::ptr::null_mut(), count) };
                Ok(())
            }
        }
    }

    /// Whether a form's result is wrong in this rank.
    fn check(&self) -> Result<bool> {
        let (rank, size) = (self.bench.rank, self.bench.size);
        let part = self.count / size as usize;
        let mut wrong = false;
        for form in 1..FORMS.len() {
            let count = if form == 3 { part } else { self.count };
            let length = if form == 3 { part * size as usize } else { count };
            let send = self.contribution(rank, length);
            let mut receive = vec![0u128; send.len()];
            self.act(form, &send, &mut receive, count)?;
            let (last, from) = match form {
                1 if rank > 0 => continue,
                5 if rank == 0 => continue,
                4 => (rank, 0),
                5 => (rank - 1, 0),
                3 => (size - 1, rank as usize * part),
                _ => (size - 1, 0),
            };
            let expected = self.expected(last, length);
            let width = element_bytes(self.kind);
            let (expected, got) = (bytes_of(&expected), bytes_of(&receive));
            // A long double's padding is anything, and what follows the index of a pair.
            let data = match self.kind.1 {
                Number::F80 | Number::C80 => 10,
                Number::F64 if is_pair(self.kind) => 12,
                _ => 16,
            };
            let is_padding = |index: usize| index % 16 >= data;
            wrong |= (0..count * width)
                .any(|index| expected[from * width + index] != got[index] && !is_padding(index));
        }
        Ok(wrong)
    }

    fn measure(&self, operation: &'static str) -> Result<Row> {
        let size = self.bench.size as usize;
        let send = self.contribution(self.bench.rank, self.count);
        let (mut receive, mut own) = (send.clone(), send.clone());
        let iterations = self.bench.iterations(bytes_of(&send).len());
        let mut forms = [0.0; FORMS.len()];
        let mut least = f64::MAX;
        for (form, ratio) in forms.iter_mut().enumerate() {
            let count = if form == 3 { self.count / size } else { self.count };
            let (ours, floor) = self.bench.compare(
                || (0..iterations).try_for_each(|_| self.act(form, &send, &mut receive, count)),
                || {
                    for _ in 0..iterations {
                        let at = own.as_mut_ptr().cast::<u8>();
                        // SAFETY: both hold the elements; the target is the second source.
                        unsafe {
                            (self.simple)(send.as_ptr().cast(), at, at, core::ptr::null_mut(), self.count)
                        };
                        black_box(&mut own);
                    }
                    Ok(())
                },
            )?;
            *ratio = ours as f64 / floor as f64;
            least = least.min(microseconds(floor) / f64::from(iterations));
        }
        Ok(Row { datatype: self.kind.0, operation, microseconds: least, forms })
    }
}

fn bytes_of(words: &[u128]) -> &[u8] {
    // SAFETY: words are bytes; the length is theirs.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}
