//! The model that datatypes are judged by: the type map as a plain list of (basic type, displacement), built by copying lists
//! exactly as the standard's definitions of the constructors say, and random recipes from which both the list and the
//! datatype are made.

use lwk_datatype::{Basic, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE};
use lwk_datatype::{Datatype, Distribution, Form, Order, Pair, Predefined};
use proptest::prelude::*;

/// A type map as a list, with its bound markers.
#[derive(Clone, Debug, Default)]
pub struct Map {
    pub entries: Vec<(Basic, i64)>,
    pub lower: Vec<i64>,
    pub upper: Vec<i64>,
}

impl Map {
    pub fn true_lb(&self) -> i64 {
        self.entries.iter().map(|e| e.1).min().unwrap_or(0)
    }

    pub fn true_ub(&self) -> i64 {
        self.entries.iter().map(|e| e.1 + e.0.size() as i64).max().unwrap_or(0)
    }

    pub fn lb(&self) -> i64 {
        self.lower.iter().copied().min().unwrap_or_else(|| self.true_lb())
    }

    pub fn ub(&self) -> i64 {
        self.upper.iter().copied().max().unwrap_or_else(|| {
            let align = self.entries.iter().map(|e| e.0.align() as i64).max().unwrap_or(1);
            let mut ub = self.true_ub();
            while (ub - self.true_lb()) % align != 0 {
                ub += 1;
            }
            ub
        })
    }

    pub fn extent(&self) -> i64 {
        self.ub() - self.lb()
    }

    pub fn size(&self) -> i64 {
        self.entries.iter().map(|e| e.0.size() as i64).sum()
    }

    pub fn shifted(&self, by: i64) -> Map {
        Map {
            entries: self.entries.iter().map(|e| (e.0, e.1 + by)).collect(),
            lower: self.lower.iter().map(|l| l + by).collect(),
            upper: self.upper.iter().map(|u| u + by).collect(),
        }
    }

    pub fn append(&mut self, other: Map) {
        self.entries.extend(other.entries);
        self.lower.extend(other.lower);
        self.upper.extend(other.upper);
    }

    pub fn copies(&self, count: i64, stride: i64) -> Map {
        let mut map = Map::default();
        for i in 0..count {
            map.append(self.shifted(i * stride));
        }
        map
    }

    /// The displacement of every byte of a message of `count` items, in the order of packing.
    pub fn bytes(&self, count: i64) -> Vec<i64> {
        let message = self.copies(count, self.extent());
        message
            .entries
            .iter()
            .flat_map(|(basic, disp)| (0..basic.size() as i64).map(move |i| disp + i))
            .collect()
    }
}

/// How to make a datatype.
#[derive(Clone, Debug)]
pub enum Recipe {
    Basic(Basic),
    Pair(Pair),
    Contiguous(i64, Box<Recipe>),
    Vector(i64, i64, i64, Box<Recipe>),
    Hvector(i64, i64, i64, Box<Recipe>),
    Indexed(Vec<(i64, i64)>, Box<Recipe>),
    Hindexed(Vec<(i64, i64)>, Box<Recipe>),
    IndexedBlock(i64, Vec<i64>, Box<Recipe>),
    HindexedBlock(i64, Vec<i64>, Box<Recipe>),
    Struct(Vec<(i64, i64, Recipe)>),
    Resized(i64, i64, Box<Recipe>),
    Dup(Box<Recipe>),
    /// (size, subsize, start) for each dimension; true for C order.
    Subarray(Vec<(i64, i64, i64)>, bool, Box<Recipe>),
    /// (global size, distribution, argument, processes) for each dimension; rank as a fraction of the grid; C order.
    Darray(Vec<(i64, i64, i64, i64)>, i64, bool, Box<Recipe>),
}

impl Recipe {
    /// The same constructors over another predefined type.
    pub fn with_leaf(mut self, leaf: Predefined) -> Recipe {
        self.replace_leaves(leaf);
        self
    }

    fn replace_leaves(&mut self, leaf: Predefined) {
        use Recipe::*;
        match self {
            Basic(_) | Pair(_) => {
                *self = match leaf {
                    Predefined::Basic(basic) => Basic(basic),
                    Predefined::Pair(pair) => Pair(pair),
                }
            }
            Contiguous(_, old) | Vector(_, _, _, old) | Hvector(_, _, _, old) | Indexed(_, old) => {
                old.replace_leaves(leaf)
            }
            Hindexed(_, old) | IndexedBlock(_, _, old) | HindexedBlock(_, _, old) => old.replace_leaves(leaf),
            Resized(_, _, old) | Dup(old) | Subarray(_, _, old) | Darray(_, _, _, old) => {
                old.replace_leaves(leaf)
            }
            Struct(list) => list.iter_mut().for_each(|member| member.2.replace_leaves(leaf)),
        }
    }

    pub fn make(&self) -> lwk_datatype::Result<Datatype> {
        use Recipe::*;
        let f = Form::Large;
        Ok(match self {
            Basic(basic) => Datatype::predefined(*basic),
            Pair(pair) => Datatype::predefined(*pair),
            Contiguous(n, old) => Datatype::contiguous_of(f, *n, &old.make()?)?,
            Vector(n, len, stride, old) => Datatype::vector(f, *n, *len, *stride, &old.make()?)?,
            Hvector(n, len, stride, old) => Datatype::hvector(f, *n, *len, *stride, &old.make()?)?,
            Indexed(list, old) => {
                let (lens, disps): (Vec<_>, Vec<_>) = list.iter().copied().unzip();
                Datatype::indexed(f, &lens, &disps, &old.make()?)?
            }
            Hindexed(list, old) => {
                let (lens, disps): (Vec<_>, Vec<_>) = list.iter().copied().unzip();
                Datatype::hindexed(f, &lens, &disps, &old.make()?)?
            }
            IndexedBlock(len, disps, old) => Datatype::indexed_block(f, *len, disps, &old.make()?)?,
            HindexedBlock(len, disps, old) => Datatype::hindexed_block(f, *len, disps, &old.make()?)?,
            Struct(list) => {
                let lens: Vec<_> = list.iter().map(|m| m.0).collect();
                let disps: Vec<_> = list.iter().map(|m| m.1).collect();
                let types = list.iter().map(|m| m.2.make()).collect::<lwk_datatype::Result<Vec<_>>>()?;
                Datatype::structure(f, &lens, &disps, &types)?
            }
            Resized(lb, extent, old) => Datatype::resized(f, *lb, *extent, &old.make()?)?,
            Dup(old) => old.make()?.dup(),
            Subarray(dims, c, old) => {
                let pick = |i: fn(&(i64, i64, i64)) -> i64| dims.iter().map(i).collect::<Vec<_>>();
                let (sizes, subs, starts) = (pick(|d| d.0), pick(|d| d.1), pick(|d| d.2));
                Datatype::subarray(f, &sizes, &subs, &starts, order(*c), &old.make()?)?
            }
            Darray(dims, rank, c, old) => {
                let pick = |i: fn(&(i64, i64, i64, i64)) -> i64| dims.iter().map(i).collect::<Vec<_>>();
                let process_sizes = pick(|d| d.3);
                let size: i64 = process_sizes.iter().product();
                let array = Distribution {
                    size,
                    rank: rank % size,
                    global_sizes: &pick(|d| d.0),
                    distributions: &pick(|d| d.1),
                    arguments: &pick(|d| d.2),
                    process_sizes: &process_sizes,
                    order: order(*c),
                };
                Datatype::darray(f, &array, &old.make()?)?
            }
        })
    }

    pub fn map(&self) -> Map {
        use Recipe::*;
        match self {
            Basic(basic) => Map { entries: vec![(*basic, 0)], ..Map::default() },
            Pair(pair) => {
                let entries = vec![(pair.value(), 0), (pair.index(), pair.index_offset() as i64)];
                Map { entries, ..Map::default() }
            }
            Contiguous(n, old) => repeat(&old.map(), *n),
            Vector(n, len, stride, old) => {
                let old = old.map();
                repeat(&old, *len).copies(*n, stride * old.extent())
            }
            Hvector(n, len, stride, old) => repeat(&old.map(), *len).copies(*n, *stride),
            Indexed(list, old) => {
                let old = old.map();
                join(list.iter().map(|(len, disp)| repeat(&old, *len).shifted(disp * old.extent())))
            }
            Hindexed(list, old) => {
                let old = old.map();
                join(list.iter().map(|(len, disp)| repeat(&old, *len).shifted(*disp)))
            }
            IndexedBlock(len, disps, old) => {
                let old = old.map();
                join(disps.iter().map(|disp| repeat(&old, *len).shifted(disp * old.extent())))
            }
            HindexedBlock(len, disps, old) => {
                let old = old.map();
                join(disps.iter().map(|disp| repeat(&old, *len).shifted(*disp)))
            }
            Struct(list) => join(list.iter().map(|(len, disp, old)| repeat(&old.map(), *len).shifted(*disp))),
            Resized(lb, extent, old) => {
                Map { lower: vec![*lb], upper: vec![lb + extent], entries: old.map().entries }
            }
            Dup(old) => old.map(),
            Subarray(dims, c, old) => {
                let sizes: Vec<_> = dims.iter().map(|d| d.0).collect();
                let within = |index: &[i64]| {
                    index.iter().zip(dims).all(|(i, (_, sub, start))| (*start..start + sub).contains(i))
                };
                elements(&old.map(), &sizes, *c, within)
            }
            Darray(dims, rank, c, old) => {
                let grid: Vec<_> = dims.iter().map(|d| d.3).collect();
                let rank = rank % grid.iter().product::<i64>();
                let sizes: Vec<_> = dims.iter().map(|d| d.0).collect();
                let within = |index: &[i64]| {
                    // The owner of an element, dimension by dimension, in a row-major grid.
                    let mut owner = 0;
                    for (i, (global, distribution, darg, processes)) in index.iter().zip(dims) {
                        let block = match (*distribution, *darg) {
                            (DISTRIBUTE_NONE, _) => *global,
                            (DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG) => (global + processes - 1) / processes,
                            (DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG) => 1,
                            (_, darg) => darg,
                        };
                        owner = owner * processes + (i / block) % processes;
                    }
                    owner == rank
                };
                elements(&old.map(), &sizes, *c, within)
            }
        }
    }
}

fn order(c: bool) -> Order {
    if c { Order::C } else { Order::Fortran }
}

fn repeat(map: &Map, count: i64) -> Map {
    map.copies(count, map.extent())
}

fn join(maps: impl Iterator<Item = Map>) -> Map {
    let mut all = Map::default();
    maps.for_each(|map| all.append(map));
    all
}

/// The elements of an array that satisfy `within`, in storage order, with the bounds of the whole array.
fn elements(old: &Map, sizes: &[i64], c: bool, within: impl Fn(&[i64]) -> bool) -> Map {
    let (total, mut map) = (sizes.iter().product::<i64>(), Map::default());
    for linear in 0..total {
        let (mut rest, mut index) = (linear, vec![0; sizes.len()]);
        let dims: Vec<usize> = if c { (0..sizes.len()).rev().collect() } else { (0..sizes.len()).collect() };
        for dim in dims {
            index[dim] = rest % sizes[dim];
            rest /= sizes[dim];
        }
        if within(&index) {
            map.entries.extend(old.shifted(linear * old.extent()).entries);
        }
    }
    map.lower = vec![0];
    map.upper = vec![total * old.extent()];
    map
}

/// Random recipes whose type map has at most a few hundred entries.
pub fn recipe() -> impl Strategy<Value = Recipe> {
    recipe_of(Vec::new())
}

/// The same over the given leaves; over any if there are none.
pub fn recipe_of(leaves: Vec<Recipe>) -> impl Strategy<Value = Recipe> {
    let basic = prop::sample::select(Basic::ALL).prop_map(Recipe::Basic);
    let common = prop::sample::select(&[Basic::Byte, Basic::Int, Basic::Double, Basic::Short][..])
        .prop_map(Recipe::Basic);
    let pair = prop::sample::select(Pair::ALL).prop_map(Recipe::Pair);
    let leaf = match leaves.is_empty() {
        true => prop_oneof![2 => basic, 4 => common, 1 => pair].boxed(),
        false => prop::sample::select(leaves).boxed(),
    };
    leaf.prop_recursive(4, 24, 3, |inner| {
        let old = || inner.clone().prop_map(Box::new);
        let (len, disp, bytes) = (0..4i64, -4..9i64, -40..60i64);
        let dim = (1..5i64).prop_flat_map(|size| {
            (Just(size), 1..=size).prop_flat_map(|(size, sub)| (Just(size), Just(sub), 0..=size - sub))
        });
        let distributed =
            (1..7i64, 1..4i64, 0..5u8, 1..4i64).prop_map(|(global, processes, kind, darg)| match kind {
                0 => (global, DISTRIBUTE_NONE, DISTRIBUTE_DFLT_DARG, 1),
                1 => (global, DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG, processes),
                2 => (global, DISTRIBUTE_BLOCK, (global + processes - 1) / processes + darg - 1, processes),
                3 => (global, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, processes),
                _ => (global, DISTRIBUTE_CYCLIC, darg, processes),
            });
        prop_oneof![
            (0..5i64, old()).prop_map(|(n, o)| Recipe::Contiguous(n, o)),
            (len.clone(), len.clone(), disp.clone(), old())
                .prop_map(|(n, l, s, o)| Recipe::Vector(n, l, s, o)),
            (len.clone(), len.clone(), bytes.clone(), old())
                .prop_map(|(n, l, s, o)| Recipe::Hvector(n, l, s, o)),
            (prop::collection::vec((len.clone(), disp.clone()), 0..4), old())
                .prop_map(|(v, o)| Recipe::Indexed(v, o)),
            (prop::collection::vec((len.clone(), bytes.clone()), 0..4), old())
                .prop_map(|(v, o)| Recipe::Hindexed(v, o)),
            (len.clone(), prop::collection::vec(disp, 0..4), old())
                .prop_map(|(l, v, o)| Recipe::IndexedBlock(l, v, o)),
            (len.clone(), prop::collection::vec(bytes.clone(), 0..4), old())
                .prop_map(|(l, v, o)| Recipe::HindexedBlock(l, v, o)),
            prop::collection::vec((len, bytes.clone(), inner.clone()), 0..4).prop_map(Recipe::Struct),
            (-20..20i64, bytes, old()).prop_map(|(lb, e, o)| Recipe::Resized(lb, e, o)),
            old().prop_map(Recipe::Dup),
            (prop::collection::vec(dim, 1..4), any::<bool>(), old())
                .prop_map(|(d, c, o)| Recipe::Subarray(d, c, o)),
            (prop::collection::vec(distributed, 1..4), 0..100i64, any::<bool>(), old())
                .prop_map(|(d, r, c, o)| Recipe::Darray(d, r, c, o)),
        ]
    })
    .prop_filter("the type map is long", |recipe| recipe.map().entries.len() <= 400)
}
