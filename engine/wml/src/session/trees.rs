//! The filesets that a text has created so far.

use crate::failure::Failure;
use crate::fileset::{Files, Prepared, prepare, verify};
use crate::model::Fileset;
use crate::run::{Halt, Options};
use crate::signals;

#[derive(Default)]
pub struct Trees {
    /// In the order of their definitions.
    files: Vec<Files>,
    prepared: Vec<Prepared>,
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
        let files = Files::new(fileset.clone(), options.seed)?;
        if options.prepared {
            verify(&files)?;
        } else {
            self.prepared.push(prepare(&files, options.seed)?);
        }
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
