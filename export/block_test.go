package export

import (
	"fmt"
	"testing"
)

// TestLossTexts: texts that are up to the messages do not fill the memory, and all messages count.
func TestLossTexts(t *testing.T) {
	for _, leftOut := range []bool{false, true} {
		var list []loss
		for i := range 1000 {
			list = addLoss(list, loss{"code", 1, fmt.Sprint(i), leftOut})
		}
		list = addLoss(list, loss{code: "other", messages: 7})
		sum := int64(0)
		for _, l := range list {
			sum += l.messages
		}
		if len(list) > maxTexts+1 || sum != 1007 || list[0].text != "0" {
			t.Errorf("%d losses of %d messages", len(list), sum)
		}
	}
}
