/**
 * Federations as flags. Feeds name them by FIDE's three letters; an emoji flag needs the two of
 * ISO 3166. Windows has no flag emoji and shows two letters, so the code itself is the default.
 */

/** FIDE's code and ISO's two letters, federation by federation. */
const CODES = `
AFGAF ALBAL ALGDZ ANDAD ANGAO ANTAG ARGAR ARMAM ARUAW AUSAU AUTAT AZEAZ BAHBS BRNBH BANBD BARBB
BLRBY BELBE BIZBZ BERBM BHUBT BOLBO BIHBA BOTBW BRABR IVBVG BRUBN BULBG BURBF BDIBI CAMKH CMRCM
CANCA CPVCV CAYKY CAFCF CHATD CHICL CHNCN TPETW COLCO COMKM CRCCR CROHR CUBCU CYPCY CZECZ CODCD
DENDK DJIDJ DMADM DOMDO ECUEC EGYEG ESASV GEQGQ ERIER ESTEE SWZSZ ETHET FAIFO FIJFJ FINFI FRAFR
GABGA GAMGM GEOGE GERDE GHAGH GREGR GRNGD GUMGU GUAGT GCIGG GUYGY HAIHT HONHN HKGHK HUNHU ISLIS
INDIN INAID IRIIR IRQIQ IRLIE IOMIM ISRIL ITAIT CIVCI JAMJM JPNJP JCIJE JORJO KAZKZ KENKE KOSXK
KUWKW KGZKG LAOLA LATLV LBNLB LESLS LBRLR LBALY LIELI LTULT LUXLU MACMO MADMG MAWMW MASMY MDVMV
MLIML MLTMT MTNMR MRIMU MEXMX MDAMD MNCMC MGLMN MNEME MARMA MOZMZ MYAMM NAMNA NRUNR NEPNP NEDNL
AHOCW NZLNZ NCANI NIGNE NGRNG MKDMK NORNO OMAOM PAKPK PLWPW PLEPS PANPA PNGPG PARPY PERPE PHIPH
POLPL PORPT PURPR QATQA ROURO RUSRU RWARW LCALC VINVC SMRSM STPST KSASA SENSN SRBRS SEYSC SLESL
SGPSG SVKSK SLOSI SOLSB SOMSO RSAZA KORKR SSDSS ESPES SRILK SUDSD SURSR SWESE SUICH SYRSY TJKTJ
TANTZ THATH TLSTL TOGTG TTOTT TUNTN TURTR TKMTM UGAUG UKRUA UAEAE USAUS URUUY ISVVI UZBUZ VANVU
VENVE VIEVN YEMYE ZAMZM ZIMZW
`;

const ISO = new Map(CODES.trim().split(/\s+/).map((pair) => [pair.slice(0, 3), pair.slice(3)]));

/** England, Scotland and Wales have no ISO code but flags of their own (Unicode TR 51, B.2). */
const NATIONS = new Map([
  ["ENG", "gbeng"],
  ["SCO", "gbsct"],
  ["WLS", "gbwls"],
]);

const REGIONAL_A = 0x1f1e6;
const TAG_ZERO = 0xe0000;

/** The flag of a federation as emoji; null where there is none. */
export function flagEmoji(federation) {
  const code = federation.toUpperCase();
  if (NATIONS.has(code)) {
    const tags = [...NATIONS.get(code)].map((letter) => TAG_ZERO + letter.codePointAt(0));
    return String.fromCodePoint(0x1f3f4, ...tags, 0xe007f);
  }
  const iso = ISO.get(code);
  if (iso === undefined) return null;
  return String.fromCodePoint(...[...iso].map((letter) => REGIONAL_A + letter.charCodeAt(0) - 65));
}

/** What stands for a federation: its flag, or its code; empty when it is no code at all. */
export function flagText(federation, style) {
  if (!federation) return "";
  const emoji = style === "emoji" ? flagEmoji(federation) : null;
  // Some sources write the country in full; there is no room for that beside a name.
  return emoji ?? (/^[A-Za-z]{2,3}$/.test(federation) ? federation.toUpperCase() : "");
}
