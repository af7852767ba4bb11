//! Remote memory access: put, get, p, g, strided and non-blocking (the standard, section 9.6).

use crate::families::{export_both, rma_types, sizes, with_and_without_context};

with_and_without_context! {
    put<Copy>(dest: *mut T, source: *const T, count: usize);
    get<Copy>(dest: *mut T, source: *const T, count: usize);
    p<Copy>(dest: *mut T, value: T);
    g<Copy>(source: *const T) -> T;
    iput<Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize);
    iget<Copy>(dest: *mut T, source: *const T, dst: isize, sst: isize, count: usize);
}

macro_rules! blocks {
    ($name:literal, $type:ty) => {
        export_both!(concat!($name, "_put"), remote put::<$type>);
        export_both!(concat!($name, "_get"), remote get::<$type>);
        export_both!(concat!($name, "_put_nbi"), remote put::<$type>);
        export_both!(concat!($name, "_get_nbi"), remote get::<$type>);
        export_both!(concat!($name, "_iput"), remote iput::<$type>);
        export_both!(concat!($name, "_iget"), remote iget::<$type>);
    };
}
rma_types!(blocks);
blocks!("longdouble", [u64; 2]);

// `long double` passes its value on the stack: see `arch`.
macro_rules! single {
    ($name:literal, $type:ty) => {
        export_both!(concat!($name, "_p"), remote p::<$type>);
        export_both!(concat!($name, "_g"), remote g::<$type>);
    };
}
rma_types!(single);

macro_rules! sized {
    ($bits:literal, $type:ty) => {
        export_both!(concat!("put", $bits), remote put::<$type>);
        export_both!(concat!("get", $bits), remote get::<$type>);
        export_both!(concat!("put", $bits, "_nbi"), remote put::<$type>);
        export_both!(concat!("get", $bits, "_nbi"), remote get::<$type>);
        export_both!(concat!("iput", $bits), remote iput::<$type>);
        export_both!(concat!("iget", $bits), remote iget::<$type>);
    };
}
sizes!(sized);

export_both!("putmem", remote put::<u8>);
export_both!("getmem", remote get::<u8>);
export_both!("putmem_nbi", remote put::<u8>);
export_both!("getmem_nbi", remote get::<u8>);
