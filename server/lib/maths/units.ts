/** Units in plain letters after a number: "12 cm", "72 clips". Letters that may be variables are none. */

const lengths =
  "nm um mm cm dm km in inch inches ft foot feet yd yard yards mi mile miles meter meters metre metres";
const weights = "mg kg gm gram grams lb lbs oz ounce ounces pound pounds ton tons tonne tonnes";
const times =
  "ms sec secs second seconds min mins minute minutes hr hrs hour hours day days week weeks month months year years";
const volumes = "ml cl dl liter liters litre litres gal gallon gallons pint pints quart quarts cup cups";
const speeds = "mph kph kmh kmph rpm";
const money = "dollar dollars cent cents euro euros usd eur rs";
const angles = "deg degree degrees rad radian radians";
const others =
  "hz khz mhz kw kwh pa kpa mol percent unit units way ways people men women kids boys girls apples books";
const known = new Set(
  [lengths, weights, times, volumes, speeds, money, angles, others].flatMap((names) => names.split(" ")),
);

/** "clips", but not "abcd": variables of a product are written in the alphabet's order. */
const isWord = (letters: string): boolean =>
  letters.length >= 4 && /[aeiou]/.test(letters) && [...letters].sort().join("") !== letters;

const measured = /^(-?[\d.,]+|\\frac\s*\{[^{}]*\}\s*\{[^{}]*\})(\s*)([a-zA-Z]{2,})(?:\s*\^?\d)?$/;

/** A number without the unit that follows it. A word that is no known unit is one where a blank sets it apart. */
export function withoutPlainUnit(text: string): string {
  const [, number, blank, letters] = measured.exec(text) ?? [];
  if (number === undefined || letters === undefined) return text;
  const name = letters.toLowerCase();
  return known.has(name) || (blank !== "" && isWord(name)) ? number : text;
}
