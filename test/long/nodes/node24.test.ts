/** The tests pass under Node 24. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(24);
