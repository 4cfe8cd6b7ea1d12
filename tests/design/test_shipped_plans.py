"""The plans of the shipped campaigns: a change of one would orphan their trials (rule 1)."""

import hashlib

import pytest

from fsgreen import design
from fsgreen.design.members import as_measured

# campaign: study, profile, hash of the plan, SHA-256 of the names of its trials, one a line
SHIPPED = {
    "fast10": (
        "fast10",
        "lab",
        "c6f99b137dad11cd6eae6c5527e09949db23d2f1dd4ae6c8f8fb5e9f5f8e0ab3",
        "06da71f432c1c7de6367fa9f323408d1393c25274379b9e26283d2bda1cb321e",
    ),
    "fast10-turns": (
        "fast10",
        "turns",
        "9640d720b9da206df082e6827972ffc3a1278dbf83e6f7314608b4a6ac7d0a2b",
        "dcd06308902018649323247f23d7a4206b710060ae4a53b1ba5fc5a957c4fc20",
    ),
    "fast10-options": (
        "fast10",
        "complete",
        "ba18f3dedc275a0258ec3c363790a6dcaf36ff16c311aa6270346d2522ce1d41",
        "d49611d5aa19890c4dd0fe04c01bae2d6105c13c19748553f14c89c852eb3e86",
    ),
    "fast10-options-disk": (
        "fast10",
        "campaign",
        "6eb5361e43cfdbbef5151c09bc8829d25550bbbad869948b697b73462a2f4485",
        "3f7c64272b136fcd3f1bcd84c19dc2c3f16f953c348d644104cf3ae577bd3245",
    ),
    "nfstricks03": (
        "nfstricks03",
        "quick",
        "3271b923136ee3256ec1af54e0db9be34f43a0569b096f3b2761f6c0b3a52fcd",
        "75c042a5c20b66b86a7d8b1a2ab0325575cb198fb9c790ecb6e71eb92449dfa5",
    ),
    "nfstricks03-lab": (
        "nfstricks03",
        "lab",
        "1bdda61f7f08de3e8504e4bbdb370954f27339308cd59d8f79c91d05b85178d7",
        "1808a8ff8eb629305e9f86a5161b3b6bf1627c5a4bc14f04f66fc52c3cd119e9",
    ),
    "nfstricks03-readers": (
        "nfstricks03",
        "eight-readers",
        "726af0fb033a88c3aaa58ecc9ffbdca2d4ef5e43782cdf4ae581470541c66e32",
        "8392503d91fa66dbac454a3ac03a0adc928d2742681f95989894982cfcc8ed80",
    ),
    "nfstricks03-nfs": (
        "nfstricks03",
        "nfs",
        "8efc35c4bb5b1eaa70903c605d48498ffb0bdd85bb466b1e34adebe31ff2e97c",
        "95f12eacd26c2d09df02b263234fcf003771a96a0d9ee9c18bca5c275e71f133",
    ),
    "sun14": (
        "sun14",
        "pairs",
        "e73afe0640f6c48cf57cfa7e0c57cba837853266d42bd5dd7a78d561f056abe3",
        "54cdb77d9c3f087315af8b0a704a1cb4f9f366ff9c46fcb0de21a090afca2477",
    ),
    "fast10-disk": (
        "fast10",
        "quick",
        "cd29a44a4888018ae0b4103af884053bfdb360242e0c18507444b5af8423970f",
        "39bfb94e6761dedec35332eeac5a24b97f4cd805f3d5ef8696e383ccd89a1ed1",
    ),
    "fast10-database": (
        "fast10",
        "database",
        "1c87838a6ff4e98d95c7020be37b653e89254d7f7bfe2b6385200b2a60e9b269",
        "ca98d3c7041b826c5bce45110b0d7def13abc7d0517e235cc24c963e92474000",
    ),
    "fast10-vm": (
        "fast10",
        "pilot-vm",
        "eaf5ebecdd388d40bac7cf51872181c65530ecd1ff8a64385ed01169d7ee1c32",
        "98298b5ac4ee7d3cc8ca27a957df3a67734c212c9e147aa4fcff5b9cf894d9b9",
    ),
    "fast10-vm-disk": (
        "fast10",
        "vm-disk",
        "3998e5a50f317b41bb6c6e5b6e92ba1d3e7d38199481d367fc8296115d77375c",
        "ca167ea61292b3c3b99506f79ae7986f463f2e94f784f926a7643fa4cb92612c",
    ),
    "fast10-fleet.loop": (
        "fast10",
        "fleet",
        "f4d42a1c5b722de8a466cdc2674183e2c9711d6a61164443bddc14a1a8813162",
        "c22b8c8d734e6779ee69333f3681110b29088b9bd798454a436be19723745d3e",
    ),
    "fast10-fleet.ram": (
        "fast10",
        "fleet",
        "89514670dae85b87cf91269a8939eb9dc7cec3cdc1ed1fbe07fb041bb647e174",
        "4e179ea0443b95bf258922c41a3d9443e2fd8d344d4c4d77197d30b4a0f757a9",
    ),
    "fast10-fleet.vm": (
        "fast10",
        "fleet",
        "5073c24ccf0ae2b0ead775f17f129abb328c611d6cef3fd3940c318243cc233e",
        "4ac2527da9fda30c6c070e0f907190c15d2dc9169259cc09e741afc830abcfa8",
    ),
    "linux-read-ahead": (
        "linux-read-ahead",
        "campaign",
        "76928f42d8012f4ae0a0cd9738c6c8c3dd2b46b305e37714b8d0cfd762bf2b74",
        "2dddc535ffafd4530b30c8845a0f29067790af758fda4c70070f273d569ecb95",
    ),
    "massie25": (
        "massie25",
        "guest",
        "1a175a4db41c383aa150a90d336969d5055983c9a5c7452df499b94b93a7ddca",
        "a8c796c4aebafdaba638500335af280594c16554e8476f5f6a0ad8931e926800",
    ),
    "massie25-4k": (
        "massie25",
        "guest-4k",
        "41b190fe5f1e20956d2fafb667d5b84324004f58ac275c727276e91ad5bbdb24",
        "0074aa6f472b9ff1d6c959821128d9f598b602f4c340311efd384f0d51e29453",
    ),
    "massie25-rocksdb": (
        "massie25",
        "rocksdb-few",
        "4dcd7c012e6b9aa727f5305690c2c003d090099a18fa71d1886700806347e1b6",
        "9fe8d3dc7379d3f862095e584da171609ab1560a6649026adab7ce64eae9b487",
    ),
    "massie25-rocksdb-vm": (
        "massie25",
        "rocksdb-guest",
        "2774a1857467c4065d4e227b179c9af781f1331bf86df65c0733614788ed954d",
        "b03cfea8d3fd71c0da49d5aac524292f32f9f9955c33d6e9270c1a17373b1abc",
    ),
    "massie25-groups": (
        "massie25",
        "groups",
        "c250d5c3a68e5328c3018470dbefd4edf0fb83f44b6866790a67f9a434fe2979",
        "20db54a40a31f8d53b5f78496e6e3212b1ede7f2edf4d180bc502dea63fe161e",
    ),
    "sun14-today": (
        "sun14",
        "today",
        "f9f1317b6c85eda98f15ee8cc98d23a344963ea3e3e91d47fe273a2bcee04b35",
        "fa8960b815799d9087bcb77e6566af0b9b4d6ee9ea250b56da765d4247f22aa1",
    ),
    "sun14-vm2": (
        "sun14",
        "guest",
        "2fd1bc498c24f9b5f6b752226fc00f804e558ecabfbf6241091f24a79c9cca4e",
        "a1b19ff6632a6f0a98ad82eabe3e459ee1bf2a5fac2424ddca56ad57c04e18db",
    ),
    "sun14-10khz": (
        "sun14",
        "vm",
        "4234faf48216bada5c40b64b5a5c57ffa798f6b3745811e8a4c1ee76b99e4306",
        "781ce88d5b631c0bf91a47a0015da7cc107015a24595b1ae06caba92730b613b",
    ),
    "sun14-guest-today": (
        "sun14",
        "guest_today",
        "df5446d3c9ddebff53d01365081ed871f4097d53d35186b9a271fd793bc0c929",
        "7a25a822439e8936e78e786ab6807a88b66190816aded6d331437f143e4976e1",
    ),
    "linux-io-uring": (
        "linux-io-uring",
        "campaign",
        "95e3777ee0b63d350bc4ff40867439b396083ae69dcb83d8bd0a5783fc23aa9c",
        "6e53ed6ebd06e336aeacd97fc3ac756773d65097d38752fad7532fa9e97976b1",
    ),
    "linux-nfs": (
        "linux-nfs",
        "campaign",
        "bd94e9961abe26de63b7517b9bb542a4634d8bb7d3c3f282c5c6e983e4547a21",
        "b8e58e9ff546f756ef52fec80953140a0d74b414a26300a558d2d7df407196cf",
    ),
    "greenfs08": (
        "greenfs08",
        "quick",
        "9f8a4abcf91b42c08d9fd2ddebccfa10922bfdb239d86791a7d413760693ec62",
        "c40093f07a34188d1765d854da6db76f20af4fe38e024ddd685e2df6c11e9c15",
    ),
    "greenfs08-away": (
        "greenfs08",
        "away",
        "3bbc743df7ca5a991f648252647515451d5d63a3aee5089745068765a28eac6f",
        "54c22d22d33024dfda375018212d3ad25f3e00d0eb7769425b6880a9aa8af4b9",
    ),
    "greenfs08-real": (
        "greenfs08",
        "real",
        "d6685e776304a3bb0c8e729b08492fdc33c61fb945072d324875f9cffebbe496",
        "233af10b37d617ca5d7d796f03186c4464a9c603d3edaa7040f5f656fcf47ab5",
    ),
    "greenfs08-real2": (
        "greenfs08",
        "real",
        "d6685e776304a3bb0c8e729b08492fdc33c61fb945072d324875f9cffebbe496",
        "233af10b37d617ca5d7d796f03186c4464a9c603d3edaa7040f5f656fcf47ab5",
    ),
}


@pytest.mark.parametrize("campaign", SHIPPED)
def test_a_shipped_plan_is_made_again_to_the_letter(campaign: str) -> None:
    study, profile, plan_hash, names_sha256 = SHIPPED[campaign]
    plan = design.make_plan(as_measured(design.load_study(study), campaign), profile)
    assert plan.hash == plan_hash
    names = "\n".join(planned.trial for planned in plan.trials)
    assert hashlib.sha256(names.encode()).hexdigest() == names_sha256
