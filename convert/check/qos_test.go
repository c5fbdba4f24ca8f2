package check

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestQoSDifference: the policies on which publishers must agree.
func TestQoSDifference(t *testing.T) {
	a := storage.QoS{History: storage.HistoryKeepLast, Depth: 10, Reliability: storage.ReliabilityReliable,
		Durability: storage.DurabilityVolatile}
	b := a
	b.History, b.Lifespan, b.Depth = storage.HistoryUnknown, storage.QoSInfinite, 0
	if d := qosDifference([]storage.QoS{a, b}); d != "" {
		t.Errorf("history and lifespan may differ: %q", d)
	}
	b.Durability = storage.DurabilityTransientLocal
	if d := qosDifference([]storage.QoS{a, b, a}); d != "durability: volatile, transient_local" {
		t.Errorf("%q", d)
	}
	b = a
	b.Deadline = storage.QoSDuration{NSec: 2e6}
	if d := qosDifference([]storage.QoS{a, b}); d != "deadline: unspecified, 2ms" {
		t.Errorf("%q", d)
	}
	if qosDifference(nil) != "" {
		t.Error("no profile")
	}
}
