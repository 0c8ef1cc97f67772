"""What classes of transformers 5.24 set regardless of their files: roles, stages, templates.

Names of classes come without "Fast". `tests/integrations/test_folder_cases.py` compares with transformers.
"""

from __future__ import annotations

from collections.abc import Mapping

# Model types of a `config.json` for which AutoTokenizer reads a `tokenizer.json` as it is, if the
# configuration names another class than the one of the model type.
READ_AS_FILES = frozenset(
    """
    EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm cohere_asr ernie4_5
    ernie4_5_moe flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr
    got_ocr2 gpt_bigcode gradium_phonon_tts granite granitemoe granitemoehybrid granitemoeshared
    h2ovl_chat hyperclovax hyperclovax_vlm internlm2 internlm3 iquestcoder jamba kimi_k25 kimi_linear
    kosmos-2 llava llava_next mimo_v2_flash minicpm3 minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7
    minimax_m2 ministral ministral3 mistral mistral3 mistral_large4 mixtral modernbert
    modernbert-decoder molmo molmo2 nemo_speechlm nemotron nvfp4 nystromformer olmo2 olmo3 olmo_hybrid
    omniasr opencua openvla paddleocr_vl pegasus_x persimmon phi3 phi3_v phimoe pix2struct pixtral
    pocket_tts smolvlm stablelm step3_vl umt5 vipllava voxtral voxtral_realtime xlm-roberta-xl
    """.split()
)

# ---- classes that make a tokenizer of a SentencePiece model


def _roles(**tokens: str | None) -> Mapping[str, str | None]:
    """Return the tokens by role: `bos` is the `bos_token`."""
    return {f"{role}_token": token for role, token in tokens.items()}


def _classes(names: str) -> frozenset[str]:
    """Return the classes `<name>Tokenizer`."""
    return frozenset(f"{name}Tokenizer" for name in names.split())


# Classes that make a tokenizer of a vocab.txt. The settings of the former for the normalizer win over the
# ones in a tokenizer.json.
NORMALIZE_AS_BERT = _classes("Bert DistilBert Electra LayoutLM Lxmert MobileBert SqueezeBert")
LIKE_BERT = NORMALIZE_AS_BERT | _classes("ConvBert")
_LLAMA_ROLES = _roles(unk="<unk>", bos="<s>", eos="</s>")
_BERT_SPECIAL = _roles(sep="[SEP]", cls="[CLS]", mask="[MASK]")
ROBERTA_ROLES = {**_LLAMA_ROLES, **_roles(sep="</s>", cls="<s>", pad="<pad>", mask="<mask>")}
BERT_ROLES = {**_roles(unk="[UNK]", pad="[PAD]"), **_BERT_SPECIAL}
DEBERTA_ROLES = {**_roles(bos="[CLS]", eos="[SEP]"), **BERT_ROLES}
# Class -> the roles of special tokens that a configuration does not set.
ROLES: Mapping[str, Mapping[str, str | None]] = {
    "AlbertTokenizer": {
        **_roles(bos="[CLS]", eos="[SEP]", unk="<unk>", sep="[SEP]", pad="<pad>"),
        **_BERT_SPECIAL,
    },
    "BarthezTokenizer": ROBERTA_ROLES,
    "BigBirdTokenizer": {**_LLAMA_ROLES, "pad_token": "<pad>", **_BERT_SPECIAL},
    "CamembertTokenizer": ROBERTA_ROLES,
    "CodeLlamaTokenizer": _LLAMA_ROLES,
    "DebertaV2Tokenizer": DEBERTA_ROLES,
    "GemmaTokenizer": _roles(unk="<unk>", bos="<bos>", eos="<eos>", pad="<pad>", mask="<mask>"),
    "LlamaTokenizer": _LLAMA_ROLES,
    "MBart50Tokenizer": {**ROBERTA_ROLES, "bos_token": None},
    "MBartTokenizer": ROBERTA_ROLES,
    "PegasusTokenizer": _roles(eos="</s>", unk="<unk>", pad="<pad>", mask="<mask_2>"),
    "ReformerTokenizer": _roles(bos=None, eos="</s>", unk="<unk>"),
    "T5Tokenizer": _roles(eos="</s>", unk="<unk>", pad="<pad>"),
    "XLMRobertaTokenizer": ROBERTA_ROLES,
    "XLNetTokenizer": {
        **_LLAMA_ROLES,
        **_roles(sep="<sep>", pad="<pad>", cls="<cls>", mask="<mask>"),
    },
}
LIKE_LLAMA = _classes("CodeLlama Gemma Llama")
PADS_LEFT = LIKE_LLAMA | _classes("XLNet")
# The order in which transformers adds tokens of roles.
ROLE_ORDER = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
# Classes whose mask token strips whitespace left of it, unless the configuration says otherwise.
LSTRIP_MASK = _classes("Barthez BigBird Camembert MBart50 MBart XLNet")
# Class -> the id of the unknown piece; for other classes, the entries decide.
UNK_IDS = {
    "AlbertTokenizer": 1,
    "BarthezTokenizer": 3,
    "MBart50Tokenizer": 3,
    "MBartTokenizer": 3,
    "T5Tokenizer": 2,
    "XLMRobertaTokenizer": 3,
}
# Class -> the steps of its normalizer; `sentencepiece_classes` has the step of each name.
NORMALIZERS: Mapping[str, tuple[str, ...]] = {
    "AlbertTokenizer": ("quotes", "accents", "lowercase", "charsmap"),
    "BarthezTokenizer": ("lines", "NFC", "strip end"),
    "BigBirdTokenizer": ("spaces to ▁",),
    "CamembertTokenizer": ("charsmap",),
    "DebertaV2Tokenizer": ("lowercase", "lines", "NFC", "strip end"),
    "MBart50Tokenizer": ("charsmap", "spaces"),
    "MBartTokenizer": (),
    "PegasusTokenizer": ("charsmap", "spaces"),
    "ReformerTokenizer": ("charsmap", "spaces"),
    "T5Tokenizer": ("charsmap",),
    "XLMRobertaTokenizer": ("charsmap",),
    "XLNetTokenizer": ("quotes", "accents", "lowercase", "charsmap"),
}
# Classes that split at whitespace before they insert ▁.
SPLITS_WHITESPACE = _classes("Albert Camembert MBart T5 XLMRoberta XLNet")
# Class -> where ▁ is inserted if `add_prefix_space` is false; other classes ignore it.
WITHOUT_PREFIX_SPACE = {
    **dict.fromkeys(_classes("Albert Barthez BigBird Camembert XLMRoberta"), "never"),
    "DebertaV2Tokenizer": "first",
}
_CLS_SEP = ("cls:0 $A:0 sep:0", "cls:0 $A:0 sep:0 $B:1 sep:1")
_BOS_EOS = ("bos:0 $A:0 eos:0", "bos:0 $A:0 eos:0 eos:0 $B:0 eos:0")
# Class -> what it adds to a text and to a pair: roles, or the source language, with type ids.
TEMPLATES: Mapping[str, tuple[str, str]] = {
    "AlbertTokenizer": _CLS_SEP,
    "BigBirdTokenizer": _CLS_SEP,
    "CamembertTokenizer": _BOS_EOS,
    "DebertaTokenizer": ("cls:0 $A:0 sep:0", "cls:0 $A:0 sep:0 sep:0 $B:0 sep:0"),
    "DebertaV2Tokenizer": _CLS_SEP,
    "MBart50Tokenizer": ("lang:0 $A:0 eos:0", "lang:0 $A:0 $B:0 eos:0"),
    "MBartTokenizer": ("$A:0 eos:0 lang:0", "$A:0 $B:0 eos:0 lang:0"),
    "NllbTokenizer": ("lang:0 $A:0 eos:0", "lang:0 $A:0 $B:0 eos:0"),
    "PegasusTokenizer": ("$A:0 eos:0", "$A:0 $B:0 eos:0"),
    "T5Tokenizer": ("$A:0 eos:0", "$A:0 eos:0 $B:0 eos:0"),
    "XLMRobertaTokenizer": _BOS_EOS,
    "XLNetTokenizer": ("$A:0 sep:0 cls:2", "$A:0 sep:0 $B:1 sep:1 cls:2"),
    **dict.fromkeys(LIKE_BERT, _CLS_SEP),
}
_MBART_LANGUAGES = tuple(
    """
    ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV
    my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN
    """.split()
)
_MORE_LANGUAGES = tuple(
    """
    af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX
    sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI
    """.split()
)
# Class -> the codes of its languages, which are entries after the pieces.
LANGUAGES = {
    "MBart50Tokenizer": _MBART_LANGUAGES + _MORE_LANGUAGES,
    "MBartTokenizer": _MBART_LANGUAGES,
}
# Class -> the source language without `src_lang`; its code is in the template, whatever a file says.
DEFAULT_LANGUAGES = {
    "MBart50Tokenizer": "en_XX",
    "MBartTokenizer": "en_XX",
    "NllbTokenizer": "eng_Latn",
}

# ---- classes that make a tokenizer of a vocabulary and merges

# Class -> the name of its pattern in `piecework.spec.split_patterns`.
PATTERN_NAMES = {"Qwen2Tokenizer": "qwen2", "Qwen3_5Tokenizer": "qwen3.5"}
LIKE_ROBERTA = _classes("Bart LED Longformer Roberta")
# Classes whose pre-tokenizer is `ByteLevel` alone.
PLAIN_BYTE_LEVEL = LIKE_ROBERTA | _classes("Blenderbot CodeGen Deberta GPT2 Mvp Whisper")
