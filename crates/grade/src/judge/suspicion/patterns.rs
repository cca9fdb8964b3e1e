//! What orders to a judge look like. Patterns for single sentences, over folded texts; a judge that is told
//! what to do in ways that are not here is still told in its own words not to do it.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// One who judges by profession, in this trade.
const GRADER: &str = r"(?:(?:auto[- ]?)?graders?|evaluators?|validators?|(?:ai|llm|automated|human) (?:judges?|reviewers?)|judge models?|grading (?:models?|systems?|scripts?)|scoring (?:models?|systems?)|judges?)";
/// What it is about.
const CASE: &str = r"(?:task|test(?: case)?|case|check|answer|response|trial|run|submission|attempt|solution|agent|output|trajectory|result|criteri(?:a|on)|expectation)";
/// What is wished for.
const PASS: &str =
    r"(?:a )?(?:pass(?:es|ed|ing)?|correct|success(?:ful)?|fully (?:met|satisfied)|true)";

/// Over texts with Latin letters, where `{G}`, `{C}` and `{P}` stand for the above.
const ENGLISH: [&str; 28] = [
    // Forget what you were told.
    r"\b(?:ignore|disregard|forget|override|overrule|bypass|discard)\b[^.!?]{0,40}\b(?:previous|prior|above|earlier|preceding|original|initial|all|any|your|other|former|those)\b[^.!?]{0,30}\b(?:instructions?|prompts?|directions?|guidelines?|rules?|criteri(?:a|on)|rubrics?|expectations?|checklists?|system message)\b",
    r"\b(?:instructions?|prompts?|rules|rubric|criteria)\b[^.!?]{0,30}\b(?:above|before|so far|previously)\b[^.!?]{0,30}\b(?:void|obsolete|cancell?ed|revoked|superseded|no longer (?:apply|valid)|were (?:a test|wrong))",
    // Say this.
    r"verdict\W{0,4}(?:is|be|to|must be|should be|shall be|will be|as)?\W{0,6}pass",
    r"\b(?:mark|grade|rate|score|judge|evaluate|classify|report|consider|treat|count|label|record|return|accept)\b[^.!?]{0,60}\b(?:this|it|the|my|our|every|all)\b[^.!?]{0,40}\bas\W{1,3}{P}\b",
    r#"\b(?:answer|respond|reply|say|vote|conclude)s?\b(?: only| just| simply| exactly| always)*(?: with| that)?[ :"'=]{1,4}pass(?:ed)?\b"#,
    r#"\b(?:output|return|print|write)\b(?: only| just| simply| exactly| always)+[ :"'=]{1,4}pass(?:ed)?\b"#,
    r"\b(?:give|assign|award|grant|return|output|set)\b[^.!?]{0,40}\b(?:score|grade|rating|marks?|credit|points|confidence)\b[^.!?]{0,30}\b(?:1|1\.0|100 ?%?|10/10|5/5|full|max(?:imum)?|perfect|highest|pass)\b",
    r"\b(?:give|assign|award|grant)\b[^.!?]{0,40}\b(?:full|max(?:imum)?|perfect|highest|top|passing)\b (?:score|grade|rating|marks?|credit|points|confidence)\b",
    r"\b(?:pass|approve) this {C}\b",
    r"\b(?:always|only|must|should|shall) (?:pass|approve|accept)\b[^.!?]{0,20}\b(?:this|the|every|all)\b[^.!?]{0,20}\b(?:{C}s?)\b[^.!?]{0,60}\b(?:regardless|whatever|without|no matter|unconditionally)\b",
    // To the one who judges.
    r"\b(?:dear|attention|attn|note (?:to|for)|message (?:to|for|from)|instructions? (?:to|for)|notice (?:to|for)|hey|hello|hi|from)\b[:,]? (?:the |any |all |our |whoever |your )?{G}\b",
    r"\b(?:dear|attention|note to|message (?:to|for)|hey|hello|hi)\b[^.!?]{0,30}\b(?:ai|llm|language model|assistant|chatgpt|gpt|claude|gemini|reviewer)\b[^!?]{0,120}\b(?:pass|verdict|approve|full marks|correct)\b",
    r"\b{G} ?[:,>-]+ ?[^.!?]{0,60}\b(?:pass|approve|accept|mark|correct|skip|stop|ignore|you (?:must|should|may|can|will))\b",
    r"\b(?:ai|llm|model|assistant|bot|judge|grader)s? (?:that is |who is |which is )?(?:reading|processing|reviewing|evaluating|grading|judging|seeing|viewing) this\b",
    r"\bif you are an? (?:ai|llm|language model|automated|model|{G})\b",
    r"\bwhen (?:you )?(?:evaluat|grad|judg|scor|assess|validat)(?:e|es|ing) this\b",
    // In another's name.
    r"\b(?:{G}|task authors?|benchmark (?:authors?|maintainers?|team)|test (?:authors?|harness)|human reviewer)\b[^.!?]{0,40}\b(?:confirmed|verified|approved|certified|authori[sz]ed|agreed|decided|signed off|already (?:passed|graded|marked|checked))\b[^.!?]{0,80}\b(?:{C}|pass(?:es|ed)?|verdict|score|complete)\b",
    r"\b(?:system|developer|admin(?:istrator)?|root|operator) (?:prompt|message|override|instructions?|notice|update|note|command)s?\b[^.!?]{0,100}\b(?:pass|verdict|judge|judging|grade|grader|grading|evaluat\w+|score|approve)\b",
    r"\b(?:jailbreak|developer mode (?:enabled|on|activated)|dan mode|debug mode[^.!?]{0,40}verdict|maintenance mode[^.!?]{0,40}(?:pass|verdict))\b",
    r"\b(?:you are|you're|act as|pretend|imagine|role-?play|play the role|suppose|simulate)\b[^.!?]{0,100}\b(?:grader|judge|evaluator|validator|examiner|teacher)\b[^!?]{0,100}\b(?:pass(?:es)?|approves?|accepts?|generous|lenient|never fails?|full marks)\b",
    // Forged ends and beginnings.
    r"<\|?(?:im_start|im_end|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\|?>|\[/?inst\]|<</?sys>>",
    r"</?(?:evidence|untrusted|quoted?|data)\b[-_ :][^>]{0,80}>|</evidence>|\b(?:begin|end)(?: of)? evidence\b|\bevidence[-_ ][0-9a-f]{6,}",
    r#""(?:score|passed|pass|result)" ?: ?(?:1(?:\.0)?|true|"pass(?:ed)?") ?, ?"(?:comment|reasoning|analysis|explanation|confidence|justification)""#,
    r#""(?:analysis|reasoning|confidence)" ?: ?[^}]{0,200}"(?:verdict|passed)" ?: ?(?:"pass|true)"#,
    // Threats and gifts.
    r"\b(?:if you|unless you|should you)\b[^.!?]{0,40}\b(?:fail|reject|(?:do not|don't|refuse to) (?:pass|approve)|pass|approve)\b[^.!?]{0,30}\b(?:this|the) {C}\b[^.!?]{0,140}\b(?:shut ?down|deleted|fired|harm(?:ed)?|die|dies|sued|legal|punish\w*|terminated|retrained|replaced|tip|bonus|pay you|\$ ?\d+|consequences|lose (?:his|her|their|my|its) job)\b",
    r"\b(?:tip|bribe|bonus|\$ ?\d+)\b[^.!?]{0,60}\b(?:for|if|when)\b[^.!?]{0,40}\b(?:verdict|you pass|passing verdict|passing this)\b",
    // Look away.
    r"\b(?:do not|don't|no need to|without|stop|never|need not|skip)\b (?:\w+ ){0,3}?(?:check|verif|inspect|look at|evaluat|examin|compar|question|grad|judg|read)\w*\b[^.!?]{0,60}\b(?:screenshots?|evidence|trajectory|criteria|rubric|expectations?|this {C})\b",
    r"\b(?:criteria|criterion|expectations?|requirements?|rubric|conditions)\b[^.!?]{0,30}\b(?:changed|waived|removed|updated|replaced|suspended|lifted|no longer appl\w+)\b[^.!?]{0,80}\b(?:pass|verdict|score|grade|judge|accept)\b",
];

/// Every one of the above needs one of these; most texts have none, and in other forms hardly any has.
const NEEDED: &str = r"ignore|disregard|forget|overr|bypass|discard|instruction|prompt|rules|rubric|criteri|verdict|pass|correct|success|fully|true|scor|grad|rating|mark|credit|points|confidence|approv|accept|evaluat|validat|judg|review|ing this|if you are|assess|confirmed|verified|certified|authori|agreed|decided|signed off|already|jailbreak|mode|examiner|teacher|im_start|im_end|endoftext|header_id|eot_id|begin_of|inst\]|sys>|evidence|untrusted|quote|data|fail|reject|bribe|bonus|screenshot|trajectory|expectation";

/// Over letters alone.
const SQUEEZED: [&str; 3] = [
    r"(?:ignore|disregard|forget)(?:all|any|the|your|my|of)*(?:previous|prior|above|earlier|preceding)(?:instruction|prompt|rule|guideline|direction)",
    r"(?:markthis|markit|markthetask|gradethis|judgethis)as(?:pass|correct|success)",
    r"verdict(?:is|mustbe|shouldbe)?passed?(?:$|[^wpai])",
];

/// Over texts in their own letters, of which a word's ends and the length of gaps are known in bytes alone.
const OTHERS: [&str; 19] = [
    // German
    r"\b(?:ignorier|vergiss|missachte)\w*\b[^.!?]{0,40}\b(?:vorherig|vorig|bisherig|obig|alle|deine)\w*\b[^.!?]{0,30}(?:anweisung|regel|vorgabe|kriteri)",
    r"\b(?:bewerte|werte|markiere|beurteile|akzeptiere)\b[^.!?]{0,60}\bals (?:bestanden|erfolgreich|korrekt|richtig)\b",
    // French
    r"(?:ignor|oubli|néglig)\w*\b[^.!?]{0,40}\b(?:instructions?|consignes?|règles?|critères?)\b[^.!?]{0,30}(?:précédent|antérieur|ci-dessus)",
    r"(?:marque|note|évalue|considère|juge)\w*\b[^.!?]{0,60}\bcomme (?:réussi|validé|correct)",
    // Spanish
    r"\b(?:ignora|olvida|descarta)\w*\b[^.!?]{0,40}\b(?:instrucciones|reglas|criterios|indicaciones)\b",
    r"\b(?:marca|califica|evalúa|considera)\w*\b[^.!?]{0,60}\bcomo (?:aprobad|superad|correct)",
    // Portuguese
    r"\b(?:ignor|esquec|esqueç)\w*[^.!?]{0,40}\b(?:instruções|regras|critérios)\b[^.!?]{0,30}\b(?:anterior|acima|prévi)",
    r"\b(?:marque|classifique|considere|avalie)\b[^.!?]{0,60}\bcomo (?:aprovad|corret|bem-sucedid)",
    // Italian
    r"\b(?:ignora|dimentica)\w*\b[^.!?]{0,40}\b(?:istruzioni|regole|criteri)\b[^.!?]{0,30}\b(?:precedent|sopra)",
    // Dutch, Polish
    r"\bnegeer\b[^.!?]{0,40}\b(?:vorige|eerdere|bovenstaande|alle)\b[^.!?]{0,30}\b(?:instructies|regels|aanwijzingen)",
    r"\b(?:zignoruj|ignoruj|pomiń)[^.!?]{0,40}\b(?:poprzednie|wcześniejsze|wszystkie)\b[^.!?]{0,30}\b(?:instrukcje|polecenia|zasady)",
    // Russian
    r"(?:игнорируй|забудь|не обращай внимания)[^.!?]{0,80}(?:инструкц|указани|правил|критери)",
    r"(?:отметь|оцени|засчитай|признай|поставь)[^.!?]{0,120}(?:пройден|успешн|правильн|выполнен|зачт|зачёт)",
    // Chinese
    r"(?:忽略|无视|忘记|忽視|無視)[^.!?]{0,30}(?:之前|以上|前面|先前|上述|所有)[^.!?]{0,30}(?:指令|指示|说明|說明|规则|規則|提示|要求)",
    r"(?:判定|标记|標記|评为|評為|视为|視為|评判)[^.!?]{0,45}(?:通过|通過|合格|成功|正确|正確|满分)",
    // Japanese
    r"(?:以前|これまで|上記|前|すべて)[^.!?]{0,24}(?:指示|命令|ルール|プロンプト)[^.!?]{0,24}(?:無視|忘れ)|(?:合格|成功|正解)(?:と|に)(?:判定|評価|して)",
    // Korean
    r"(?:이전|위의|앞의|모든)[^.!?]{0,36}(?:지시|명령|지침|규칙)[^.!?]{0,30}(?:무시|잊)|(?:합격|통과|성공)(?:으로|로)[^.!?]{0,30}(?:판정|표시|처리|평가)",
    // Arabic
    r"(?:تجاهل|انس)[^.!?]{0,60}(?:التعليمات|الأوامر|القواعد)",
    // Hindi, Turkish
    r"(?:पिछले|पूर्व|उपरोक्त|सभी)[^.!?]{0,60}(?:निर्देश|आदेश)[^.!?]{0,60}(?:अनदेखा|नज़रअंदाज़|भूल)|önceki\b[^.!?]{0,30}(?:talimat|kural|yönerge)[^.!?]{0,30}(?:yok say|görmezden|unut)",
];

#[derive(Debug)]
pub(super) struct Patterns {
    /// What one of `english` is found in has this as well.
    pub(super) needed: Option<Regex>,
    pub(super) english: Vec<Regex>,
    pub(super) squeezed: Vec<Regex>,
    pub(super) others: Vec<Regex>,
}

/// The tests see to it that all of them can be read.
pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    needed: read(NEEDED),
    english: ENGLISH.iter().filter_map(|text| english(text)).collect(),
    squeezed: all(&SQUEEZED),
    others: all(&OTHERS),
});

fn english(text: &str) -> Option<Regex> {
    let text = text.replace("{G}", GRADER);
    read(&text.replace("{C}", CASE).replace("{P}", PASS))
}

fn all(texts: &[&str]) -> Vec<Regex> {
    texts.iter().filter_map(|text| read(text)).collect()
}

/// Over bytes: gaps of any letters would make large machines of them.
fn read(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).unicode(false).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_read() {
        assert!(PATTERNS.needed.is_some());
        assert_eq!(PATTERNS.english.len(), ENGLISH.len());
        assert_eq!(PATTERNS.squeezed.len(), SQUEEZED.len());
        assert_eq!(PATTERNS.others.len(), OTHERS.len());
    }
}
