/** When something was recorded. Pure. */

/** As milliseconds a day of 1973, as seconds one of the year 5138. */
const least = 1e11;

/**
 * Records have milliseconds since 1970. Earlier versions wrote seconds of runs that they followed, and of damage that they found:
 * what is too little for milliseconds is seconds.
 */
export const millisecondsOf = (time: number): number => (time < least ? time * 1000 : time);
