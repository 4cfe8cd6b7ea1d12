//! The filesets that a text has created so far.

use std::path::Path;

use crate::failure::Failure;
use crate::fileset::{Files, Lock, Prepared, lock, prepare, refuse_hopeless, verify};
use crate::model::Fileset;
use crate::run::{Halt, Options};
use crate::signals;

#[derive(Default)]
pub struct Trees {
    /// In the order of their definitions.
    files: Vec<Files>,
    prepared: Vec<Prepared>,
    /// Of each.
    locks: Vec<Lock>,
}

impl Trees {
    /// Create those that do not exist yet, or verify them if that was done by an earlier command.
    /// The others keep the values that they were created with. A text defines its filesets in one
    /// order, so that these always begin with the known ones.
    pub fn provide(&mut self, filesets: &[Fileset], options: &Options) -> Result<(), Halt> {
        for fileset in filesets.iter().skip(self.files.len()) {
            let made = self.provide_one(fileset, options);
            if let Some(name) = signals::pending() {
                return Err(Halt::by_signal(name));
            }
            made?;
        }
        Ok(())
    }

    fn provide_one(&mut self, fileset: &Fileset, options: &Options) -> Result<(), Failure> {
        if !options.prepared {
            refuse_hopeless(fileset)?;
        }
        let files = Files::new(fileset.clone(), options.seed)?;
        let root = Path::new(files.layout.root());
        let mut held = (!files.layout.is_device())
            .then(|| lock(root))
            .transpose()?;
        if options.prepared {
            verify(&files)?;
        } else {
            self.prepared.push(prepare(&files, options.seed)?);
            // The tree may be a new one.
            if held.is_some() {
                drop(held);
                held = Some(lock(root)?);
            }
        }
        self.locks.extend(held);
        self.files.push(files);
        Ok(())
    }

    /// Before the threads of a run start; `are_claimed` says whether its flowops claim files.
    pub fn begin_run(&mut self, are_claimed: bool) {
        for files in &mut self.files {
            files.begin_run(are_claimed);
        }
    }

    /// Check that all trees are as they were created.
    pub fn verify(&self) -> Result<(), Failure> {
        self.files.iter().try_for_each(verify)
    }

    pub fn files(&self) -> &[Files] {
        &self.files
    }

    /// What was created.
    pub fn into_prepared(self) -> Vec<Prepared> {
        self.prepared
    }
}
