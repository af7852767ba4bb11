//! The dissertation's own rows of the tables that `profiles` draws, and their columns: the least bytes of a message, and the name.

/// The document's, of its table 2.1: within a chip, between chips, between nodes, in percent.
pub const TABLE_2_1: [(&str, [[f64; 3]; 2]); 7] = [
    ("IS", [[13.0, 18.0, 69.0], [7.0, 13.0, 80.0]]),
    ("FT", [[9.0, 16.0, 75.0], [7.0, 13.0, 80.0]]),
    ("CG", [[45.0, 45.0, 10.0], [36.0, 37.0, 27.0]]),
    ("MG", [[32.0, 32.0, 36.0], [25.0, 25.0, 50.0]]),
    ("BT", [[1.0, 33.0, 66.0], [0.0, 33.0, 67.0]]),
    ("SP", [[1.0, 33.0, 66.0], [0.0, 33.0, 67.0]]),
    ("LU", [[1.0, 50.0, 49.0], [0.0, 50.0, 50.0]]),
];
/// Of figure 2.4, as the text sums it up: by messages and by volume.
pub const FIGURE_2_4: [(&str, [f64; 3]); 2] =
    [("HPL", [15.4, 42.6, 42.0]), ("HPL, bytes", [3.5, 19.9, 76.6])];
/// Of table 4.2: messages of more than 1 KB by size.
pub const TABLE_4_2: [(&str, [f64; 5]); 4] = [
    ("2x1", [44.0, 0.0, 0.0, 0.0, 22.0]),
    ("2x2", [44.0, 0.0, 0.0, 22.0, 0.0]),
    ("2x4", [44.0, 0.0, 22.0, 0.0, 0.0]),
    ("2x8", [44.0, 22.0, 0.0, 0.0, 0.0]),
];
pub const COLUMNS_4_2: [(usize, &str); 5] = [
    (1 << 10, "1K-8K"),
    (8 << 10, "8K-256K"),
    (256 << 10, "256K-1M"),
    (1 << 20, "1M-4M"),
    (4 << 20, "above 4M"),
];
/// Of table 5.3; classes B and C are as A.
pub const TABLE_5_3: [(&str, [f64; 3]); 4] = [
    ("IS.A.2", [68.1, 0.0, 31.9]),
    ("IS.A.4", [70.6, 0.0, 29.4]),
    ("PSTSWM.2", [4.0, 0.4, 95.6]),
    ("PSTSWM.4", [3.6, 96.4, 0.0]),
];
pub const COLUMNS_5_3: [(usize, &str); 3] = [(0, "0-32K"), (32 << 10, "32K-1M"), (1 << 20, "above 1M")];
/// Of table 6.1.
pub const TABLE_6_1: [(&str, [f64; 4]); 9] = [
    ("CG", [62.0, 0.0, 38.0, 0.0]),
    ("MG", [52.0, 28.0, 20.0, 0.0]),
    ("FT", [17.0, 0.0, 0.0, 83.0]),
    ("PSTSWM", [2.0, 1.0, 97.0, 0.0]),
    ("IS", [44.0, 15.0, 0.0, 41.0]),
    ("LU", [30.0, 69.0, 1.0, 0.0]),
    ("HPL", [58.0, 37.0, 3.0, 2.0]),
    ("BT", [1.0, 0.0, 99.0, 0.0]),
    ("SP", [1.0, 0.0, 99.0, 0.0]),
];
pub const COLUMNS_6_1: [(usize, &str); 4] =
    [(0, "below 1K"), (1 << 10, "1K-32K"), (32 << 10, "32K-1M"), (1 << 20, "above 1M")];
