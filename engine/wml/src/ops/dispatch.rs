//! Which method carries out which flowop.

use super::Worker;
use super::outcome::Outcome;
use super::system;
use crate::model::{Flowop, Operation};

impl Worker<'_> {
    /// Execute one op of the flowop with this number.
    pub(super) fn execute(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        use Operation as O;
        if flowop.operation != O::AioWait {
            self.wake_helpers();
        }
        match flowop.operation {
            O::OpenFile => self.open_file(nth, flowop),
            O::CreateFile => self.create_file(nth, flowop),
            O::CloseFile => self.close_file(flowop),
            O::DeleteFile => self.delete_file(nth, flowop),
            O::StatFile => self.stat_file(nth, flowop),
            O::Read => self.read(nth, flowop),
            O::Write => self.write(nth, flowop),
            O::ReadWholeFile => self.read_whole_file(nth, flowop),
            O::WriteWholeFile => self.write_whole_file(nth, flowop),
            O::AppendFile => self.append_file(nth, flowop),
            O::AppendFileRand => self.append_file_rand(nth, flowop),
            O::Fsync => self.sync_file(nth, flowop, system::fsync),
            O::Fdatasync => self.sync_file(nth, flowop, system::fdatasync),
            O::FsyncSet => self.sync_set(flowop),
            O::FsyncDir => self.sync_directory(nth, flowop),
            O::ListDir | O::ListStatDir => self.list_directory(nth, flowop),
            O::MakeDir => self.make_directory(nth, flowop),
            O::RemoveDir => self.remove_directory(nth, flowop),
            O::RenameFile => self.rename_file(nth, flowop),
            O::LinkFile => self.link_file(nth, flowop, system::link),
            O::SymlinkFile => self.link_file(nth, flowop, system::symlink),
            O::TruncateFile => self.truncate_file(nth, flowop),
            O::Fallocate => self.fallocate(nth, flowop),
            O::ChmodFile => self.chmod_file(nth, flowop),
            O::SetXattr => self.set_xattr(nth, flowop),
            O::GetXattr => self.get_xattr(nth, flowop),
            O::MmapRead => self.mmap_read(nth, flowop),
            O::MmapWrite => self.mmap_write(nth, flowop),
            O::CopyFileRange => self.copy_file_range(nth, flowop),
            O::UringRead | O::UringWrite => self.uring_transfer(nth, flowop),
            O::UringWait => self.uring_wait(),
            O::AioWrite => self.aio_write(nth, flowop),
            O::AioWait => self.aio_wait(),
            O::Block => self.block(nth),
            O::Wakeup => self.wakeup(nth),
            O::SemBlock => self.sem_block(nth, flowop),
            O::SemPost => self.sem_post(nth, flowop),
            O::Hog => self.hog(flowop),
            O::Delay => self.delay(flowop),
            O::EventLimit => self.limit_events(),
            O::OpsLimit | O::IopsLimit | O::BwLimit => self.limit_work(nth, flowop),
            O::FinishOnCount | O::FinishOnBytes => self.finish_on(flowop),
            O::Print => self.print(flowop),
            O::TestRandvar => self.test_randvar(nth, flowop),
        }
    }
}
