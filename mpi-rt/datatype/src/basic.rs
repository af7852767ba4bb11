//! Predefined types: every one that MPI 5.0 names for C, C++ and Fortran, with its handle in the standard ABI, its name,
//! its machine representation on x86-64 (System V, gfortran's default kinds), its class for reductions, and its length in
//! `external32` (MPI 5.0, "External Data Representation", the tables of lengths).
//!
//! Two kinds: a [`Basic`] is one value; a [`Pair`] is a value with an index (for MINLOC and MAXLOC), laid out as the C
//! struct or Fortran array it names, so it may have a hole at its end or between its members. In counts of basic elements
//! and in type signatures a pair is its two members, as if it had been constructed.
//!
//! Synonyms (MPI-5.0, section 3.2.2): `MPI_LONG_LONG` is `MPI_LONG_LONG_INT`, `MPI_C_FLOAT_COMPLEX` is `MPI_C_COMPLEX`.

/// How one value lies in memory: integers (`I`, `U`), floating point (`F`, by bits: 80 is x87's, in 16 bytes), complex
/// (`C`, by bits of one part), Fortran logical (`L`), C and C++ bool, and bytes without meaning to this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    F80,
    F128,
    C16,
    C32,
    C64,
    C80,
    C128,
    L8,
    L16,
    L32,
    L64,
    L128,
    Bool,
    Raw,
}

impl Scalar {
    /// Bytes of one value, padding of the 80-bit format included.
    pub const fn size(self) -> usize {
        use Scalar::*;
        match self {
            I8 | U8 | L8 | Bool | Raw => 1,
            I16 | U16 | F16 | L16 => 2,
            I32 | U32 | F32 | C16 | L32 => 4,
            I64 | U64 | F64 | C32 | L64 => 8,
            I128 | F80 | F128 | C64 | L128 => 16,
            C80 | C128 => 32,
        }
    }

    /// Alignment that a compiler gives one value, in bytes: a complex aligns as one of its parts.
    pub const fn align(self) -> usize {
        use Scalar::*;
        match self {
            C16 | C32 | C64 | C80 | C128 => self.size() / 2,
            _ => self.size(),
        }
    }
}

/// The groups of the standard's table of reductions ("Predefined Reduction Operations").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Group {
    CInteger,
    FortranInteger,
    Floating,
    Logical,
    Complex,
    Byte,
    MultiLanguage,
    Character,
    Packed,
}

macro_rules! basics {
    ($($(#[$doc:meta])* $variant:ident = $handle:literal, $name:literal, $scalar:ident, $group:ident, $external:literal;)*) => {
        /// A predefined type of one value. The discriminant is its handle in the MPI 5.0 standard ABI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Basic { $($(#[$doc])* $variant = $handle,)* }

        impl Basic {
            /// All of them, in the order of their handles' table.
            pub const ALL: &'static [Basic] = &[$(Basic::$variant,)*];

            /// The name a program uses, such as `MPI_INT`.
            pub const fn name(self) -> &'static str {
                match self { $(Basic::$variant => $name,)* }
            }

            /// Machine representation.
            pub const fn scalar(self) -> Scalar {
                match self { $(Basic::$variant => Scalar::$scalar,)* }
            }

            /// Class in the table of reductions.
            pub const fn group(self) -> Group {
                match self { $(Basic::$variant => Group::$group,)* }
            }

            /// Bytes of one value in `external32`.
            pub const fn external_size(self) -> usize {
                match self { $(Basic::$variant => $external,)* }
            }
        }
    };
}

basics! {
    Aint = 0x201, "MPI_AINT", I64, MultiLanguage, 8;
    Count = 0x202, "MPI_COUNT", I64, MultiLanguage, 8;
    Offset = 0x203, "MPI_OFFSET", I64, MultiLanguage, 8;
    Packed = 0x207, "MPI_PACKED", Raw, Packed, 1;
    Short = 0x208, "MPI_SHORT", I16, CInteger, 2;
    Int = 0x209, "MPI_INT", I32, CInteger, 4;
    Long = 0x20a, "MPI_LONG", I64, CInteger, 4;
    LongLong = 0x20b, "MPI_LONG_LONG_INT", I64, CInteger, 8;
    UnsignedShort = 0x20c, "MPI_UNSIGNED_SHORT", U16, CInteger, 2;
    Unsigned = 0x20d, "MPI_UNSIGNED", U32, CInteger, 4;
    UnsignedLong = 0x20e, "MPI_UNSIGNED_LONG", U64, CInteger, 4;
    UnsignedLongLong = 0x20f, "MPI_UNSIGNED_LONG_LONG", U64, CInteger, 8;
    Float = 0x210, "MPI_FLOAT", F32, Floating, 4;
    CFloatComplex = 0x212, "MPI_C_COMPLEX", C32, Complex, 8;
    CxxFloatComplex = 0x213, "MPI_CXX_FLOAT_COMPLEX", C32, Complex, 8;
    Double = 0x214, "MPI_DOUBLE", F64, Floating, 8;
    CDoubleComplex = 0x216, "MPI_C_DOUBLE_COMPLEX", C64, Complex, 16;
    CxxDoubleComplex = 0x217, "MPI_CXX_DOUBLE_COMPLEX", C64, Complex, 16;
    Logical = 0x218, "MPI_LOGICAL", L32, Logical, 4;
    Integer = 0x219, "MPI_INTEGER", I32, FortranInteger, 4;
    Real = 0x21a, "MPI_REAL", F32, Floating, 4;
    Complex = 0x21b, "MPI_COMPLEX", C32, Complex, 8;
    DoublePrecision = 0x21c, "MPI_DOUBLE_PRECISION", F64, Floating, 8;
    DoubleComplex = 0x21d, "MPI_DOUBLE_COMPLEX", C64, Complex, 16;
    Character = 0x21e, "MPI_CHARACTER", I8, Character, 1;
    LongDouble = 0x220, "MPI_LONG_DOUBLE", F80, Floating, 16;
    CLongDoubleComplex = 0x224, "MPI_C_LONG_DOUBLE_COMPLEX", C80, Complex, 32;
    CxxLongDoubleComplex = 0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", C80, Complex, 32;
    CBool = 0x238, "MPI_C_BOOL", Bool, Logical, 1;
    CxxBool = 0x239, "MPI_CXX_BOOL", Bool, Logical, 1;
    Wchar = 0x23c, "MPI_WCHAR", U32, Character, 2;
    Int8 = 0x240, "MPI_INT8_T", I8, CInteger, 1;
    Uint8 = 0x241, "MPI_UINT8_T", U8, CInteger, 1;
    Char = 0x243, "MPI_CHAR", I8, Character, 1;
    SignedChar = 0x244, "MPI_SIGNED_CHAR", I8, CInteger, 1;
    UnsignedChar = 0x245, "MPI_UNSIGNED_CHAR", U8, CInteger, 1;
    Byte = 0x247, "MPI_BYTE", Raw, Byte, 1;
    Int16 = 0x248, "MPI_INT16_T", I16, CInteger, 2;
    Uint16 = 0x249, "MPI_UINT16_T", U16, CInteger, 2;
    Int32 = 0x250, "MPI_INT32_T", I32, CInteger, 4;
    Uint32 = 0x251, "MPI_UINT32_T", U32, CInteger, 4;
    Int64 = 0x258, "MPI_INT64_T", I64, CInteger, 8;
    Uint64 = 0x259, "MPI_UINT64_T", U64, CInteger, 8;
    Logical1 = 0x2c0, "MPI_LOGICAL1", L8, Logical, 1;
    Integer1 = 0x2c1, "MPI_INTEGER1", I8, FortranInteger, 1;
    Logical2 = 0x2c8, "MPI_LOGICAL2", L16, Logical, 2;
    Integer2 = 0x2c9, "MPI_INTEGER2", I16, FortranInteger, 2;
    Real2 = 0x2ca, "MPI_REAL2", F16, Floating, 2;
    Logical4 = 0x2d0, "MPI_LOGICAL4", L32, Logical, 4;
    Integer4 = 0x2d1, "MPI_INTEGER4", I32, FortranInteger, 4;
    Real4 = 0x2d2, "MPI_REAL4", F32, Floating, 4;
    Complex4 = 0x2d3, "MPI_COMPLEX4", C16, Complex, 4;
    Logical8 = 0x2d8, "MPI_LOGICAL8", L64, Logical, 8;
    Integer8 = 0x2d9, "MPI_INTEGER8", I64, FortranInteger, 8;
    Real8 = 0x2da, "MPI_REAL8", F64, Floating, 8;
    Complex8 = 0x2db, "MPI_COMPLEX8", C32, Complex, 8;
    Logical16 = 0x2e0, "MPI_LOGICAL16", L128, Logical, 16;
    Integer16 = 0x2e1, "MPI_INTEGER16", I128, FortranInteger, 16;
    Real16 = 0x2e2, "MPI_REAL16", F128, Floating, 16;
    Complex16 = 0x2e3, "MPI_COMPLEX16", C64, Complex, 16;
    Complex32 = 0x2eb, "MPI_COMPLEX32", C128, Complex, 32;
}

impl Basic {
    /// Bytes of one value in memory.
    pub const fn size(self) -> usize {
        self.scalar().size()
    }

    /// Its alignment in bytes.
    pub const fn align(self) -> usize {
        self.scalar().align()
    }

    /// Its handle in the MPI 5.0 standard ABI.
    pub const fn handle(self) -> u16 {
        self as u16
    }
}

macro_rules! pairs {
    ($($variant:ident = $handle:literal, $name:literal, $value:ident, $index:ident;)*) => {
        /// A value with an index. The discriminant is its handle in the MPI 5.0 standard ABI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Pair { $($variant = $handle,)* }

        impl Pair {
            /// All of them.
            pub const ALL: &'static [Pair] = &[$(Pair::$variant,)*];

            /// The name a program uses, such as `MPI_2INT`.
            pub const fn name(self) -> &'static str {
                match self { $(Pair::$variant => $name,)* }
            }

            /// Type of the value, which comes first.
            pub const fn value(self) -> Basic {
                match self { $(Pair::$variant => Basic::$value,)* }
            }

            /// Type of the index.
            pub const fn index(self) -> Basic {
                match self { $(Pair::$variant => Basic::$index,)* }
            }
        }
    };
}

pairs! {
    FloatInt = 0x228, "MPI_FLOAT_INT", Float, Int;
    DoubleInt = 0x229, "MPI_DOUBLE_INT", Double, Int;
    LongInt = 0x22a, "MPI_LONG_INT", Long, Int;
    TwoInt = 0x22b, "MPI_2INT", Int, Int;
    ShortInt = 0x22c, "MPI_SHORT_INT", Short, Int;
    LongDoubleInt = 0x22d, "MPI_LONG_DOUBLE_INT", LongDouble, Int;
    TwoReal = 0x230, "MPI_2REAL", Real, Real;
    TwoDoublePrecision = 0x231, "MPI_2DOUBLE_PRECISION", DoublePrecision, DoublePrecision;
    TwoInteger = 0x232, "MPI_2INTEGER", Integer, Integer;
}

impl Pair {
    /// Displacement of the index, bytes: the first place after the value that its alignment allows.
    pub const fn index_offset(self) -> usize {
        self.value().size().next_multiple_of(self.index().align())
    }

    /// Alignment of the whole, bytes.
    pub const fn align(self) -> usize {
        let (value, index) = (self.value().align(), self.index().align());
        if value > index { value } else { index }
    }

    /// Bytes from the start of one pair to that of the next, padding included.
    pub const fn extent(self) -> usize {
        (self.index_offset() + self.index().size()).next_multiple_of(self.align())
    }

    /// Its handle in the MPI 5.0 standard ABI.
    pub const fn handle(self) -> u16 {
        self as u16
    }
}

/// Any predefined type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Predefined {
    /// One value.
    Basic(Basic),
    /// A value and an index.
    Pair(Pair),
}

impl Predefined {
    /// The type with this handle of the standard ABI, if it is one (`MPI_DATATYPE_NULL`, 0x200, is none).
    #[inline]
    pub fn from_handle(handle: usize) -> Option<Predefined> {
        *BY_HANDLE.get(handle.wrapping_sub(FIRST_HANDLE))?
    }

    /// Every predefined type.
    pub fn all() -> impl Iterator<Item = Predefined> {
        let basics = Basic::ALL.iter().map(|b| Predefined::Basic(*b));
        basics.chain(Pair::ALL.iter().map(|p| Predefined::Pair(*p)))
    }

    /// Its handle in the standard ABI.
    pub const fn handle(self) -> u16 {
        match self {
            Predefined::Basic(basic) => basic.handle(),
            Predefined::Pair(pair) => pair.handle(),
        }
    }

    /// The name a program uses.
    pub const fn name(self) -> &'static str {
        match self {
            Predefined::Basic(basic) => basic.name(),
            Predefined::Pair(pair) => pair.name(),
        }
    }

    /// Distance of one value to the next in memory, bytes.
    pub const fn extent(self) -> usize {
        match self {
            Predefined::Basic(basic) => basic.size(),
            Predefined::Pair(pair) => pair.extent(),
        }
    }
}

/// Handles of predefined types have the numbers from this one on.
const FIRST_HANDLE: usize = 0x200;

/// The types by handle: accumulates look one up each time.
static BY_HANDLE: [Option<Predefined>; 256] = by_handle();

const fn by_handle() -> [Option<Predefined>; 256] {
    let mut types = [None; 256];
    let mut i = 0;
    while i < Basic::ALL.len() {
        types[Basic::ALL[i].handle() as usize - FIRST_HANDLE] = Some(Predefined::Basic(Basic::ALL[i]));
        i += 1;
    }
    i = 0;
    while i < Pair::ALL.len() {
        types[Pair::ALL[i].handle() as usize - FIRST_HANDLE] = Some(Predefined::Pair(Pair::ALL[i]));
        i += 1;
    }
    types
}

impl From<Basic> for Predefined {
    fn from(basic: Basic) -> Predefined {
        Predefined::Basic(basic)
    }
}

impl From<Pair> for Predefined {
    fn from(pair: Pair) -> Predefined {
        Predefined::Pair(pair)
    }
}
