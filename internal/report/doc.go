// Package report gathers what one file can show of a recording: what was found wrong, which topics came when, and
// samples of the values, places, pictures and points within. `bagconv report` writes it as JSON, or as the page of
// internal/report/page.
//
//	report.go  Report and all below it: the data, and its JSON
//	numbers.go Numbers: values in JSON that may be NaN
//
// A Report is plain data; whoever has it may read it concurrently.
package report
