"""Short texts in many languages, and encodings in which they are usual."""

from __future__ import annotations

from typing import NamedTuple


class Sample(NamedTuple):
    """A text: its language, a title, sentences, and the usual encodings with their labels."""

    language: str
    title: str
    text: str
    encodings: tuple[tuple[str, str], ...]


SAMPLES = (
    Sample(
        "en",
        "Outage of the ticket shop",
        "The shop’s certificate expired on Tuesday – “nobody” had noticed it. The damage was 5,000 €.",
        (("cp1252", "iso-8859-1"), ("utf-8", "utf-8"), ("utf-16", "")),
    ),
    Sample(
        "de",
        "Störung der Kasse",
        "Die Kasse fiel für zwölf Stunden aus. Größere Schäden gab es nicht, übrigens auch in Zürich.",
        (("cp1252", "windows-1252"), ("iso-8859-15", "iso-8859-15"), ("utf-8", "us-ascii")),
    ),
    Sample(
        "fr",
        "Réunion du comité",
        "La décision a été reportée à l’été. Le comité se réunira à Genève après les congés.",
        (("cp1252", "latin1"), ("utf-8", "utf-8"), ("utf-16-le", "")),
    ),
    Sample(
        "es",
        "Acta de la reunión",
        "La señora Núñez pidió más información sobre el año próximo. ¿Quién responderá mañana?",
        (("cp1252", "iso-8859-1"), ("utf-8", "x-unknown")),
    ),
    Sample(
        "pl",
        "Awaria sklepu",
        "Spotkanie odbędzie się w środę. Właścicielem usługi jest Łukasz Żółć z działu sprzedaży.",
        (("cp1250", "windows-1250"), ("iso-8859-2", "iso-8859-2"), ("utf-8", "utf-8")),
    ),
    Sample(
        "cs",
        "Výpadek služby",
        "Schůzka se přesouvá na úterý. Příčinou výpadku byl prošlý certifikát, říká Jiří Dvořák.",
        (("cp1250", "windows-1250"), ("iso-8859-2", "iso-8859-2")),
    ),
    Sample(
        "ru",
        "Сбой магазина",
        "Заседание перенесено на вторник. Причиной сбоя стал просроченный сертификат.",
        (("cp1251", "windows-1251"), ("koi8-r", "koi8-r"), ("utf-8", "utf-8"), ("utf-16-be", "")),
    ),
    Sample(
        "el",
        "Διακοπή της υπηρεσίας",
        "Η συνάντηση αναβλήθηκε για την Τρίτη. Η αιτία ήταν ένα ληγμένο πιστοποιητικό.",
        (("cp1253", "windows-1253"), ("iso-8859-7", "iso-8859-7")),
    ),
    Sample(
        "tr",
        "Hizmet kesintisi",
        "Toplantı salı gününe ertelendi. Kesintinin nedeni süresi dolmuş bir sertifikaydı, şimdi çözüldü.",
        (("cp1254", "windows-1254"), ("iso-8859-9", "iso-8859-9")),
    ),
    Sample(
        "he",
        "תקלה בחנות",
        "הפגישה נדחתה ליום שלישי. הסיבה לתקלה הייתה תעודה שפג תוקפה.",
        (("cp1255", "windows-1255"), ("utf-8", "utf-8")),
    ),
    Sample(
        "ar",
        "عطل في المتجر",
        "تأجل الاجتماع إلى يوم الثلاثاء. كان سبب العطل شهادة منتهية الصلاحية.",
        (("cp1256", "windows-1256"), ("utf-8", "utf-8")),
    ),
    Sample(
        "th",
        "ระบบขัดข้อง",
        "การประชุมเลื่อนไปเป็นวันอังคาร สาเหตุคือใบรับรองหมดอายุ",
        (("cp874", "windows-874"), ("utf-8", "utf-8")),
    ),
    Sample(
        "ja",
        "障害報告",
        "会議は火曜日に延期されました。障害の原因は証明書の期限切れでした。",
        (
            ("shift_jis", "shift_jis"),
            ("euc-jp", "euc-jp"),
            ("iso-2022-jp", "iso-2022-jp"),
            ("utf-8", "utf-8"),
            ("utf-16-le", ""),
        ),
    ),
    Sample(
        "zh-hans",
        "故障报告",
        "会议推迟到星期二。故障的原因是证书过期，负责人是朱镕基。",
        (("gb18030", "gb2312"), ("gb18030", "gbk"), ("utf-8", "utf-8")),
    ),
    Sample(
        "zh-hant",
        "故障報告",
        "會議延期到星期二。故障的原因是憑證過期，負責人是王小明。",
        (("big5", "big5"), ("utf-8", "utf-8")),
    ),
    Sample(
        "ko",
        "장애 보고",
        "회의가 화요일로 연기되었습니다. 장애의 원인은 만료된 인증서였습니다.",
        (("euc-kr", "ks_c_5601-1987"), ("cp949", "euc-kr"), ("utf-8", "utf-8")),
    ),
)
