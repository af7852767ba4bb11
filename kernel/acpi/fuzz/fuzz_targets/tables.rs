//! Any bodies of tables, whole and with right checksums: the reader ends, and what it says lies in them.
#![no_main]

#[path = "../../tests/tables/build.rs"]
mod build;
#[path = "../../tests/tables/exercise.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    // The first bytes say how long the parts for each table are, and the tables' revision.
    let Some((&[a, b, c, d, e, f, g, revision], mut rest)) = input.split_first_chunk() else { return };
    let signatures = [b"APIC", b"FACP", b"SRAT", b"SLIT", b"HMAT", b"SSDT", b"SPCR", b"MCFG"];
    let lengths = [a, b, c, d, e, f, g].map(|length| 2 * usize::from(length)).into_iter().chain([usize::MAX]);
    let tables: Vec<Vec<u8>> = signatures
        .into_iter()
        .zip(lengths)
        .map(|(signature, length)| {
            let (body, later) = rest.split_at(length.min(rest.len()));
            rest = later;
            build::table(signature, revision, &build::PLAIN, body)
        })
        .collect();
    exercise::read_all(&build::memory(&tables));
    exercise::read_all(&build::Physical(input.to_vec()));
});
