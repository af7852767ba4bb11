//! The figures of nested datatypes, which `apps/c/bench/compare-types.c` measures: packing and unpacking of every constructor over every other.

use std::sync::LazyLock;

use crate::peers::rows::{Better, Row, both};

/// What their names begin with.
pub const PREFIX: &str = "types";

/// Constructors, in the program's order.
const CONSTRUCTORS: [&str; 12] = [
    "contiguous",
    "vector",
    "hvector",
    "indexed",
    "hindexed",
    "indexed_block",
    "hindexed_block",
    "struct",
    "resized",
    "dup",
    "subarray",
    "darray",
];

/// Blocks of the outer constructor and of the inner one, and bytes of a block, that are measured beside 8 times 8 blocks of 8 bytes.
const SHAPES: [&str; 14] = [
    "vector_of_vector_64x64_8",
    "vector_of_vector_8x8_64",
    "vector_of_vector_64x64_24",
    "vector_of_vector_2x2_2048",
    "vector_of_vector_512x2_8",
    "vector_of_vector_2x512_8",
    "vector_of_struct_64x8_8",
    "struct_of_vector_8x64_8",
    "hindexed_of_vector_64x8_8",
    "hindexed_of_hindexed_64x64_8",
    "indexed_block_of_contiguous_512x1_8",
    "indexed_block_of_contiguous_64x1_24",
    "subarray_of_subarray_64x64_8",
    "subarray_of_contiguous_64x1_256",
];

/// All of them, in the program's order. Margay should be as fast as the best.
pub fn rows() -> &'static [Row] {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
        let pairs = CONSTRUCTORS
            .iter()
            .flat_map(|outer| CONSTRUCTORS.iter().map(move |inner| format!("{outer}_of_{inner}")));
        let types: Vec<String> = pairs.chain(SHAPES.iter().map(|shape| (*shape).to_owned())).collect();
        types.iter().flat_map(|name| [row("pack", name), row("unpack", name)]).collect()
    });
    &ROWS
}

/// Rows live as long as the program; they are made once.
fn row(verb: &str, name: &str) -> Row {
    Row {
        name: format!("{PREFIX}_{verb}_{name}_us").leak(),
        what: format!("{verb} {}", name.replace('_', " ")).leak(),
        unit: "us",
        better: Better::Less,
        target: both(1.0, 1.0),
        floor: None,
        of_floor: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constructor_over_every_other_is_packed_and_unpacked() {
        let names: std::collections::BTreeSet<_> = rows().iter().map(|row| row.name).collect();
        assert_eq!(names.len(), 2 * (12 * 12 + SHAPES.len()));
        assert!(names.contains("types_unpack_darray_of_struct_us"));
        assert!(rows().iter().all(Row::is_types));
    }

    #[test]
    fn they_are_measured_only_if_asked_for() {
        let row = &rows()[0];
        assert!(!row.is_wanted(&[]) && row.is_wanted(&["types".into()]) && !row.is_wanted(&["bcast".into()]));
    }
}
