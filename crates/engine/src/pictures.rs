//! The pictures of a record, for a judge who looks at them: read from the run folder.

use std::sync::Arc;

use agon_core::{Fault, FaultClass, Picture};
use agon_grade::PictureSource;
use agon_store::RunFolder;

#[derive(Debug)]
pub(crate) struct Kept<'a>(pub(crate) &'a RunFolder);

impl PictureSource for Kept<'_> {
    fn load(&self, picture: &Picture) -> Result<Arc<[u8]>, Fault> {
        if let Some(data) = picture.data() {
            return Ok(data.into());
        }
        let read = self.0.picture(picture);
        let lost = |why: &dyn std::fmt::Display| Fault::new(FaultClass::Evidence, why);
        let read = read.map_err(|error| lost(&error))?;
        read.data()
            .map(Arc::from)
            .ok_or_else(|| lost(&"a picture of the record is empty"))
    }
}
