//! Post-processors: one or two sequences of ids in, ids framed by special tokens out.

use crate::encoding::{Encoding, Token};
use crate::error::{Error, ErrorKind};
use crate::spec::{PostProcessorSpec, TemplatePiece, TemplateSpec};
use crate::vocab::MAX_ID;

/// One place of a compiled template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Sequence { index: usize, type_id: u32 },
    Special { ids: Vec<u32>, type_id: u32 },
}

/// A compiled post-processor: templates for one sequence and for a pair.
#[derive(Clone, Debug)]
pub struct PostProcessor {
    spec: Option<PostProcessorSpec>,
    single: Vec<Place>,
    pair: Vec<Place>,
}

impl PostProcessor {
    /// Compile; a template that names an undefined special token or leaves a sequence out is an error.
    pub fn compile(spec: Option<&PostProcessorSpec>) -> Result<Self, Error> {
        let (single, pair) = match spec {
            None => (vec![sequence(0, 0)], vec![sequence(0, 0), sequence(1, 1)]),
            Some(PostProcessorSpec::Bert { sep, cls }) => bert(sep.1, cls.1),
            Some(PostProcessorSpec::Template(template)) => (
                compile_template(template, &template.single, "single", 1)?,
                compile_template(template, &template.pair, "pair", 2)?,
            ),
        };
        Ok(Self { spec: spec.cloned(), single, pair })
    }

    /// The specification it was compiled from.
    #[must_use]
    pub fn spec(&self) -> Option<PostProcessorSpec> {
        self.spec.clone()
    }

    /// How many tokens it inserts.
    #[must_use]
    pub fn inserted(&self, is_pair: bool) -> usize {
        self.places(is_pair).iter().map(Place::inserted).sum()
    }

    /// Whether type ids other than 0 can come out.
    #[must_use]
    pub fn has_type_ids(&self, is_pair: bool) -> bool {
        self.places(is_pair).iter().any(|place| place.type_id() != 0)
    }

    /// Frame ids: `emit` gets each run of ids with its type id. `add_special_tokens` off leaves the
    /// sequences alone.
    pub fn frame_ids(
        &self,
        first: &[u32],
        second: Option<&[u32]>,
        add_special_tokens: bool,
        mut emit: impl FnMut(&[u32], u32),
    ) {
        let sequences = [first, second.unwrap_or_default()];
        for place in self.places(second.is_some()) {
            match place {
                Place::Sequence { index, type_id } => emit(sequences[*index], *type_id),
                Place::Special { ids, type_id } if add_special_tokens => emit(ids, *type_id),
                Place::Special { .. } => {}
            }
        }
    }

    /// Frame whole encodings, overflowing windows included.
    #[must_use]
    pub fn frame(&self, sequences: &[Encoding], add_special_tokens: bool) -> Encoding {
        let mut framed = Encoding::default();
        for place in self.places(sequences.len() == 2) {
            match place {
                Place::Sequence { index, type_id } => {
                    framed = framed.joined(&typed(&sequences[*index], *type_id));
                }
                Place::Special { ids, type_id } if add_special_tokens => {
                    let tokens = ids.iter().map(|&id| Token::inserted(id, *type_id, true)).collect();
                    framed = framed.joined(&Encoding::new(tokens));
                }
                Place::Special { .. } => {}
            }
        }
        framed
    }

    fn places(&self, is_pair: bool) -> &[Place] {
        if is_pair {
            &self.pair
        } else {
            &self.single
        }
    }
}

impl Place {
    fn inserted(&self) -> usize {
        match self {
            Self::Sequence { .. } => 0,
            Self::Special { ids, .. } => ids.len(),
        }
    }

    fn type_id(&self) -> u32 {
        match self {
            Self::Sequence { type_id, .. } | Self::Special { type_id, .. } => *type_id,
        }
    }
}

fn sequence(index: usize, type_id: u32) -> Place {
    Place::Sequence { index, type_id }
}

fn bert(sep: u32, cls: u32) -> (Vec<Place>, Vec<Place>) {
    let special = |id, type_id| Place::Special { ids: vec![id], type_id };
    let single = vec![special(cls, 0), sequence(0, 0), special(sep, 0)];
    let mut pair = single.clone();
    pair.extend([sequence(1, 1), special(sep, 1)]);
    (single, pair)
}

fn typed(encoding: &Encoding, type_id: u32) -> Encoding {
    let mut encoding = encoding.clone();
    let windows = std::iter::once(&mut encoding.tokens)
        .chain(encoding.overflowing.iter_mut().map(|window| &mut window.tokens));
    windows.flatten().for_each(|token| token.type_id = type_id);
    encoding
}

fn compile_template(
    template: &TemplateSpec,
    pieces: &[TemplatePiece],
    field: &str,
    sequences: u8,
) -> Result<Vec<Place>, Error> {
    let place = |at: usize| format!("post_processor.{field}[{at}]");
    let mut places = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        places.push(match piece {
            TemplatePiece::Sequence(index, type_id) if *index < sequences && *type_id < 256 => {
                sequence(*index as usize, *type_id)
            }
            TemplatePiece::Special(name, type_id) if *type_id < 256 => {
                Place::Special { ids: ids_of(template, name, &place(at))?, type_id: *type_id }
            }
            TemplatePiece::Sequence(..) | TemplatePiece::Special(..) => {
                let expected =
                    format!("sequence A{} and type ids below 256", ["", " or B"][sequences as usize - 1]);
                return Err(Error::new(ErrorKind::Format, place(at), format!("{piece:?}"), expected));
            }
        });
    }
    for wanted in 0..sequences {
        let names =
            |place: &Place| matches!(place, Place::Sequence { index, .. } if *index == wanted as usize);
        if !places.iter().any(names) {
            let sequence = ["A", "B"][wanted as usize];
            let found = format!("no sequence {sequence}");
            return Err(Error::new(ErrorKind::Format, format!("post_processor.{field}"), found, "it once"));
        }
    }
    Ok(places)
}

fn ids_of(template: &TemplateSpec, name: &str, place: &str) -> Result<Vec<u32>, Error> {
    let defined = template.special_tokens.iter().find(|token| token.name == name);
    let ids = defined.map(|token| token.ids.clone()).ok_or_else(|| {
        let expected = "a token defined in post_processor.special_tokens";
        Error::new(ErrorKind::Format, place, format!("{name:?}"), expected)
    })?;
    match ids.iter().find(|&&id| id > MAX_ID) {
        Some(id) => Err(Error::new(ErrorKind::Format, place, format!("id {id}"), "a smaller id")),
        None => Ok(ids),
    }
}
