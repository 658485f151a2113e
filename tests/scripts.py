"""Small sets of texts in several languages, made of sentences: subjects, verbs, objects and places."""

from __future__ import annotations

import itertools

CATS = {
    "en": "I like cats.",
    "ar": "أنا أحب القطط.",
    "de": "Ich mag Katzen.",
    "es": "Me gustan los gatos.",
    "fr": "J'aime les chats.",
    "it": "Mi piacciono i gatti.",
    "ja": "私は猫が好きです。",
    "ko": "나는 고양이를 좋아해요.",
    "nl": "Ik hou van katten.",
    "pl": "Lubię koty.",
    "pt": "Eu gosto de gatos.",
    "ru": "Я люблю кошек.",
    "th": "ฉันชอบแมว",
    "tr": "Kedileri severim.",
    "zh": "我喜欢猫。",
}
_PARTS = {  # between them: a blank, or nothing in scripts without
    "en": (
        "The old man|A young girl|My brother|The teacher|Our friend",
        "saw|found|bought|lost|drew",
        "a house|the book|a red car|some bread|the letter",
        "in the town.|by the river.|on Monday.|after the war.|with a smile.",
    ),
    "de": (
        "Der alte Mann|Ein junges Mädchen|Mein Bruder|Die Lehrerin|Unser Freund",
        "sah|fand|kaufte|verlor|malte",
        "ein Haus|das Buch|ein rotes Auto|etwas Brot|den Brief",
        "in der Stadt.|an dem Fluss.|am Montag.|nach dem Krieg.|mit einem Lächeln.",
    ),
    "fr": (
        "Le vieil homme|Une jeune fille|Mon frère|La maîtresse|Notre ami",
        "a vu|a trouvé|a acheté|a perdu|a dessiné",
        "une maison|le livre|une voiture rouge|du pain|la lettre",
        "dans la ville.|près de la rivière.|lundi dernier.|après la guerre.|avec un sourire.",
    ),
    "ru": (
        "Старый человек|Молодая девушка|Мой брат|Учитель|Наш друг",
        "увидел|нашёл|купил|потерял|нарисовал",
        "дом|книгу|красную машину|немного хлеба|письмо",
        "в городе.|у реки.|в понедельник.|после войны.|с улыбкой.",
    ),
    "ar": (
        "الرجل العجوز|فتاة صغيرة|أخي|المعلم|صديقنا",
        "رأى|وجد|اشترى|فقد|رسم",
        "بيتا|الكتاب|سيارة حمراء|بعض الخبز|الرسالة",
        "في المدينة.|عند النهر.|يوم الاثنين.|بعد الحرب.|مع ابتسامة.",
    ),
    "tr": (
        "Yaşlı adam|Genç bir kız|Kardeşim|Öğretmen|Arkadaşımız",
        "şehirde|nehrin yanında|pazartesi günü|savaştan sonra|gülümseyerek",
        "bir ev|kitabı|kırmızı bir araba|biraz ekmek|mektubu",
        "gördü.|buldu.|satın aldı.|kaybetti.|çizdi.",
    ),
    "hi": (
        "बूढ़ा आदमी|एक लड़की|मेरा भाई|शिक्षक|हमारा दोस्त",
        "शहर में|नदी के पास|सोमवार को|युद्ध के बाद|मुस्कान के साथ",
        "एक घर|किताब|लाल गाड़ी|थोड़ी रोटी|चिट्ठी",
        "देखता है।|ढूंढता है।|खरीदता है।|खोता है।|बनाता है।",
    ),
    "el": (
        "Ο γέρος άντρας|Ένα μικρό κορίτσι|Ο αδελφός μου|Η δασκάλα|Ο φίλος μας",
        "είδε|βρήκε|αγόρασε|έχασε|σχεδίασε",
        "ένα σπίτι|το βιβλίο|ένα κόκκινο αυτοκίνητο|λίγο ψωμί|το γράμμα",
        "στην πόλη.|στο ποτάμι.|τη Δευτέρα.|μετά τον πόλεμο.|με χαμόγελο.",
    ),
    "ko": (
        "늙은 남자가|어린 소녀가|우리 형이|선생님이|우리 친구가",
        "도시에서|강가에서|월요일에|전쟁 후에|웃으면서",
        "집을|책을|빨간 차를|빵을|편지를",
        "보았다.|찾았다.|샀다.|잃었다.|그렸다.",
    ),
    "zh": (
        "那个老人|一个年轻的女孩|我的哥哥|老师|我们的朋友",
        "在城里|在河边|在星期一|在战争之后|微笑着",
        "看见了|找到了|买了|丢了|画了",
        "一座房子。|那本书。|一辆红色的车。|一些面包。|那封信。",
    ),
    "ja": (
        "年老いた男が|若い女の子が|私の兄が|先生が|私たちの友達が",
        "町で|川のそばで|月曜日に|戦争の後で|微笑みながら",
        "家を|本を|赤い車を|パンを|手紙を",
        "見た。|見つけた。|買った。|なくした。|描いた。",
    ),
    "th": (
        "ชายชรา|เด็กหญิงคนหนึ่ง|พี่ชายของฉัน|คุณครู|เพื่อนของเรา",
        "เห็น|พบ|ซื้อ|ทำหาย|วาด",
        "บ้านหลังหนึ่ง|หนังสือ|รถสีแดง|ขนมปัง|จดหมาย",
        "ในเมือง|ริมแม่น้ำ|ในวันจันทร์|หลังสงคราม|ด้วยรอยยิ้ม",
    ),
}
WITHOUT_BLANKS = ("zh", "ja", "th")


def _texts(language: str) -> list[str]:
    """Texts of two sentences each, all different."""
    blank = "" if language in WITHOUT_BLANKS else " "
    parts = [part.split("|") for part in _PARTS[language]]
    sentences = [blank.join(words) for words in itertools.product(*parts)]
    return [f"{sentence} {sentences[(7 * number + 311) % 625]}" for number, sentence in enumerate(sentences)]


TEXTS = {language: _texts(language) for language in _PARTS}
