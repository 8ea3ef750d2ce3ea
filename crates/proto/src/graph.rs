//! Checks of directed acyclic graphs, for batches and workflows. A graph is a list of nodes; each node lists the positions of
//! the nodes that it depends on.

/// The layer of each node: 0 for a node that depends on none, otherwise one more than the highest layer that it depends on.
///
/// # Errors
/// Fails with the [`cycle`] if the graph has one.
pub fn layers(depends_on: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut layers = vec![0; depends_on.len()];
    for node in in_order(depends_on)? {
        layers[node] = depends_on[node].iter().map(|other| layers[*other] + 1).max().unwrap_or(0);
    }
    Ok(layers)
}

/// A cycle of the graph, if it has one: each node depends on the next, and the last one on the first. It begins with the
/// lowest position, and is the first one that is found from the lowest position on.
pub fn cycle(depends_on: &[Vec<usize>]) -> Option<Vec<usize>> {
    in_order(depends_on).err()
}

/// A cycle for messages, by the names of its nodes: `a → b → a`.
pub fn show_cycle<'a>(cycle: &[usize], name: impl Fn(usize) -> &'a str) -> String {
    let names: Vec<_> = cycle.iter().chain(cycle.first()).map(|node| name(*node)).collect();
    names.join(" → ")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the path from the node where the search began.
    OnPath,
    Done,
}

/// The nodes so that each comes after those it depends on; otherwise a cycle.
fn in_order(depends_on: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut marks = vec![Mark::New; depends_on.len()];
    let mut order = Vec::with_capacity(depends_on.len());
    // The path to the current node, each with the position of the next dependency to visit. No recursion: paths are long.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in 0..depends_on.len() {
        if marks[start] == Mark::New {
            marks[start] = Mark::OnPath;
            path.push((start, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            let Some(&other) = depends_on[*node].get(*next) else {
                marks[*node] = Mark::Done;
                order.push(*node);
                path.pop();
                continue;
            };
            *next += 1;
            match marks[other] {
                Mark::Done => {}
                Mark::New => {
                    marks[other] = Mark::OnPath;
                    path.push((other, 0));
                }
                Mark::OnPath => {
                    let from = path.iter().position(|(node, _)| *node == other).unwrap_or(0);
                    let mut cycle: Vec<_> = path[from..].iter().map(|(node, _)| *node).collect();
                    let lowest = cycle.iter().enumerate().min_by_key(|(_, node)| **node);
                    let lowest = lowest.map_or(0, |(place, _)| place);
                    cycle.rotate_left(lowest);
                    return Err(cycle);
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests;
