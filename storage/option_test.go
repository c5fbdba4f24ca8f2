package storage

import (
	"errors"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	list := Options{
		{Name: NameCompression, Kind: OptionChoice, Values: []string{"none", "lz4"}}, {Name: NameLevel, Kind: OptionInteger},
		{Name: NameChunkSize, Kind: OptionSize}, {Name: NameSegmentDuration, Kind: OptionDuration},
		{Name: "trim", Kind: OptionChoice, Values: []string{"off", "all"}},
	}
	var o WriteOptions
	for name, value := range map[string]string{NameCompression: "lz4", NameLevel: "9", NameChunkSize: "4K",
		NameSegmentDuration: "1m", "trim": "all"} {
		if err := list.Set(&o, name, value); err != nil {
			t.Error(err)
		}
	}
	if o.Compression != "lz4" || o.Level != 9 || o.ChunkSize != 4096 || o.SegmentDuration != 60e9 ||
		o.Values["trim"] != "all" {
		t.Errorf("%+v", o)
	}
	if err := list.Check(&o); err != nil {
		t.Error(err)
	}
	for what, set := range map[string]error{
		"unknown value":         list.Set(&o, NameCompression, "zip"),
		"not a number":          list.Set(&o, NameLevel, "-1"),
		"not a size":            list.Set(&o, NameChunkSize, "big"),
		"not a duration":        list.Set(&o, NameSegmentDuration, "0s"),
		"no such option":        list.Set(&o, "speed", "1"),
		"has no such":           list.Check(&WriteOptions{SegmentSize: 5}),
		"-5 is less than 0":     list.Check(&WriteOptions{ChunkSize: -5}),
		`value "zip"`:           list.Check(&WriteOptions{Compression: "zip"}),
		"the format has no":     list.Check(&WriteOptions{Values: map[string]string{"speed": "1"}}),
		`trim: unknown value`:   list.Check(&WriteOptions{Values: map[string]string{"trim": "x"}}),
		"distro: the format":    list.Check(&WriteOptions{Profile: "humble"}),
		"segment-names: the fo": list.Check(&WriteOptions{SegmentNames: "old"}),
	} {
		var wrong *OptionError
		if !errors.As(set, &wrong) || !errors.Is(set, ErrUnsupported) || !strings.Contains(set.Error(), what) {
			t.Errorf("%s: %v", what, set)
		}
	}
	if (Options)(nil).Choices("x") != nil || list.Choices("trim")[1] != "all" {
		t.Error("Choices")
	}
}
