//! What is served: a folder, its open files, and what is read ahead of them.

mod ahead;
mod answer;
mod directory;
mod failure;
mod open;
mod procedures;
mod read;
mod served;
mod tree;
mod windows;

pub use ahead::Summary;
pub use answer::answer;
pub use served::{Asked, Export};
