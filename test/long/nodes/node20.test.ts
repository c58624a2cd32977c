/** The tests pass under Node 20. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(20);
