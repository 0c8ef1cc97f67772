//! The specification of a compiled model, whole or as a compiled cache stores it.

use std::sync::Arc;

use crate::error::Error;
use crate::locks::Late;
use crate::ranks::ranked_model;
use crate::spec::ModelSpec;
use crate::table_sections::TableSections;
use crate::vocab::Vocab;

/// Adds the entries of a compiled cache to the settings of its model.
pub type ReadEntries = fn(&ModelSpec, &Vocab, &TableSections) -> Result<ModelSpec, Error>;

/// The specification of a model. That of a compiled cache gets its entries when they are first needed: encoding needs
/// only the compiled tables.
#[derive(Debug)]
pub(super) struct ModelSource {
    settings: ModelSpec,
    stored: Option<(ReadEntries, Arc<Vocab>, TableSections)>,
    whole: Late<ModelSpec>,
}

impl ModelSource {
    /// Return a specification that is whole.
    pub(super) fn of(spec: ModelSpec) -> Self {
        Self { settings: spec, stored: None, whole: Late::unbuilt() }
    }

    /// Return the specification that `read` makes of these settings, without errors.
    pub(super) fn stored(
        settings: ModelSpec,
        read: ReadEntries,
        vocab: &Arc<Vocab>,
        tables: &TableSections,
    ) -> Self {
        let stored = (read, Arc::clone(vocab), tables.clone());
        Self { settings, stored: Some(stored), whole: Late::unbuilt() }
    }

    /// Return the kind and the settings; the entries may be missing.
    pub(super) fn settings(&self) -> &ModelSpec {
        &self.settings
    }

    /// Return whether the entries are read.
    #[cfg(test)]
    pub(super) fn is_whole(&self) -> bool {
        self.stored.is_none() || self.whole.get().is_some()
    }

    /// Return the whole specification.
    pub(super) fn whole(&self) -> &ModelSpec {
        let Some((read, vocab, tables)) = &self.stored else { return &self.settings };
        self.whole
            .get_or_make(|| read(&self.settings, vocab, tables).unwrap_or_else(|_| self.settings.clone()))
    }
}

/// Return the settings of a model by ranks with its entries and merges.
pub(super) fn read_ranks(
    settings: &ModelSpec,
    vocab: &Vocab,
    _: &TableSections,
) -> Result<ModelSpec, Error> {
    Ok(match settings {
        ModelSpec::Bpe(settings) => ModelSpec::Bpe(ranked_model(settings, vocab)),
        other => other.clone(),
    })
}
