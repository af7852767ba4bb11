//! Where each crate is drawn: rows from top to bottom, so that arrows go down, and in a row beside those that it has to do with.

use super::Crate;

/// Sizes in pixels: of a letter, of what a box has beside its letters, of boxes, and of what lies between them at least and at most.
const LETTER: f64 = 7.3;
const BESIDE: f64 = 18.0;
pub const BOX_HEIGHT: f64 = 24.0;
const BETWEEN_BOXES: f64 = 16.0;
const BETWEEN_BOXES_MOST: f64 = 90.0;
const BETWEEN_ROWS: f64 = 34.0;
/// Above the first and below the last row of a floor, and left of all boxes, where its name stands.
const FLOOR_EDGE: f64 = 17.0;
const MARGIN: f64 = 190.0;
/// Widest row, without the margins.
const WIDTH: f64 = 1010.0;
/// How often rows are put in the order of their neighbours, down and up; it settles after a few.
const SWEEPS: usize = 8;

/// A crate's box.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub name: String,
    pub x: f64,
    pub y: f64,
    pub width: f64,
}

/// A picture without its lines' colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub boxes: Vec<Placed>,
    /// From a box to one that it needs, by their indices.
    pub arrows: Vec<(usize, usize)>,
    /// Of each floor: its upper edge and its height.
    pub floors: Vec<(f64, f64)>,
    pub width: f64,
    pub height: f64,
}

impl Layout {
    pub fn of(crates: &[Crate]) -> Layout {
        let arrows = arrows(crates);
        let mut rows = rows(crates);
        order(&mut rows, &arrows, crates.len());
        let mut boxes: Vec<Placed> = crates.iter().map(unplaced).collect();
        let (mut floors, mut y) = (Vec::new(), 0.0);
        for row in &rows {
            let floor = crates[row[0]].floor;
            let is_new = floors.len() <= floor;
            // Floors without crates have no height.
            floors.resize(floor + 1, (y, 0.0));
            y += if is_new { FLOOR_EDGE } else { BETWEEN_ROWS };
            place(row, y, &mut boxes);
            y += BOX_HEIGHT;
            let next = rows.iter().skip_while(|it| *it != row).nth(1);
            if next.is_none_or(|next| crates[next[0]].floor != floor) {
                y += FLOOR_EDGE;
            }
            floors[floor].1 = y - floors[floor].0;
        }
        Layout { boxes, arrows, floors, width: WIDTH + 2.0 * MARGIN, height: y }
    }
}

fn unplaced(it: &Crate) -> Placed {
    Placed { name: it.name.clone(), x: 0.0, y: 0.0, width: it.name.len() as f64 * LETTER + BESIDE }
}

/// What each crate needs, but for what another one that it needs leads to.
fn arrows(crates: &[Crate]) -> Vec<(usize, usize)> {
    let leads = |from: usize, to: usize| {
        let (mut seen, mut next) = (vec![false; crates.len()], vec![from]);
        while let Some(at) = next.pop() {
            for needed in &crates[at].needs {
                if *needed == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[*needed], true) {
                    next.push(*needed);
                }
            }
        }
        false
    };
    let all = crates.iter().enumerate().flat_map(|(from, it)| it.needs.iter().map(move |to| (from, *to)));
    all.filter(|(from, to)| !crates[*from].needs.iter().any(|other| other != to && leads(*other, *to)))
        .collect()
}

/// Crates by floor, and on a floor below those that need them; no row is wider than the picture.
fn rows(crates: &[Crate]) -> Vec<Vec<usize>> {
    let mut depth = vec![0; crates.len()];
    // As often as the longest chain of crates has links, and once more without a change.
    while {
        let mut changed = false;
        for it in 0..crates.len() {
            for needed in
                crates[it].needs.iter().copied().filter(|needed| crates[*needed].floor == crates[it].floor)
            {
                if depth[needed] <= depth[it] {
                    (depth[needed], changed) = (depth[it] + 1, true);
                }
            }
        }
        changed
    } {}
    let mut all: Vec<usize> = (0..crates.len()).collect();
    all.sort_by_key(|it| (crates[*it].floor, depth[*it], crates[*it].name.clone()));
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for it in all {
        let with = |row: &[usize]| width(row.iter().chain([&it]).map(|it| unplaced(&crates[*it]).width));
        match rows.last_mut() {
            Some(row)
                if (crates[row[0]].floor, depth[row[0]]) == (crates[it].floor, depth[it])
                    && with(row) <= WIDTH =>
            {
                row.push(it);
            }
            _ => rows.push(vec![it]),
        }
    }
    rows
}

/// Puts the crates of each row in the order in which those are that they have arrows with, above and below in turn.
fn order(rows: &mut [Vec<usize>], arrows: &[(usize, usize)], crates: usize) {
    let mut at = vec![0.0; crates];
    let note = |row: &[usize], at: &mut [f64]| {
        row.iter().enumerate().for_each(|(place, it)| at[*it] = (place as f64 + 0.5) / row.len() as f64);
    };
    rows.iter().for_each(|row| note(row, &mut at));
    for sweep in 0..SWEEPS {
        let mut turn: Vec<&mut Vec<usize>> = rows.iter_mut().collect();
        if sweep % 2 == 1 {
            turn.reverse();
        }
        for row in turn {
            let mean = |it: usize| {
                let others = arrows.iter().filter_map(|(from, to)| match it {
                    _ if *from == it => Some(at[*to]),
                    _ if *to == it => Some(at[*from]),
                    _ => None,
                });
                let others: Vec<f64> = others.collect();
                if others.is_empty() { at[it] } else { others.iter().sum::<f64>() / others.len() as f64 }
            };
            let mut placed: Vec<(f64, usize)> = row.iter().map(|it| (mean(*it), *it)).collect();
            placed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            *row = placed.into_iter().map(|(_, it)| it).collect();
            note(row, &mut at);
        }
    }
}

/// Of boxes side by side.
fn width(boxes: impl Iterator<Item = f64>) -> f64 {
    boxes.map(|width| width + BETWEEN_BOXES).sum::<f64>() - BETWEEN_BOXES
}

/// A row in the middle of the picture.
fn place(row: &[usize], y: f64, boxes: &mut [Placed]) {
    let (count, all) = (row.len() as f64, row.iter().map(|it| boxes[*it].width).sum::<f64>());
    let between = ((WIDTH - all) / count).clamp(BETWEEN_BOXES, BETWEEN_BOXES_MOST);
    let mut x = MARGIN + (WIDTH - all - between * (count - 1.0)) / 2.0;
    for it in row {
        (boxes[*it].x, boxes[*it].y) = (x, y);
        x += boxes[*it].width + between;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, floor: usize, needs: &[usize]) -> Crate {
        Crate { name: name.into(), floor, needs: needs.to_vec() }
    }

    /// A tower with a short cut, and a row that does not fit into one.
    fn some() -> Vec<Crate> {
        let mut crates =
            vec![of("top", 0, &[1, 2]), of("middle", 1, &[2]), of("low", 1, &[3]), of("ground", 2, &[])];
        crates.extend((0..30).map(|number| of(&format!("wide-{number}"), 2, &[])));
        crates
    }

    #[test]
    fn arrows_go_down_and_none_stands_for_two_others() {
        let layout = Layout::of(&some());
        assert_eq!(layout.arrows, [(0, 1), (1, 2), (2, 3)]);
        for (from, to) in &layout.arrows {
            assert!(layout.boxes[*from].y + BOX_HEIGHT < layout.boxes[*to].y, "{from} to {to}");
        }
    }

    #[test]
    fn boxes_lie_apart_on_their_floors() {
        let (crates, layout) = (some(), Layout::of(&some()));
        for (index, one) in layout.boxes.iter().enumerate() {
            let (top, height) = layout.floors[crates[index].floor];
            assert!(
                one.y >= top && one.y + BOX_HEIGHT <= top + height && one.y + BOX_HEIGHT <= layout.height
            );
            assert!(one.x >= MARGIN && one.x + one.width <= layout.width - MARGIN + 0.5, "{one:?}");
            for other in &layout.boxes[index + 1..] {
                let beside = one.x + one.width < other.x || other.x + other.width < one.x;
                assert!(one.y != other.y || beside, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_same_crates_make_the_same_picture() {
        assert_eq!(Layout::of(&some()), Layout::of(&some()));
    }
}
