/**
 * Byte-level vocabularies write each byte as one printable character (GPT-2): bytes that are printable in Latin-1 stay
 * for themselves, the others follow from U+0100 on, in order.
 */
const printable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);

/** The character of every byte, by byte. */
export const byteCharacters: readonly string[] = (() => {
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(printable(byte) ? byte : 0x100 + others++),
  );
})();
