// Package mp4 writes video files of frames as they are stored: JPEG, H.264, H.265, VP9 and AV1.
// Nothing is decoded or encoded again, and each frame keeps its time. It knows no message encoding.
//
//	w, err := mp4.NewWriter(file, mp4.Sniff(first))
//	err = w.Frame(data, stamp)             // for each frame, in the order of decoding; stamp in ns
//	summary, err := w.Close()
//
// Frames of pixels, which nobody has encoded yet, go through an Encoder: ffmpeg makes H.264 of them if the
// machine has it, and image/jpeg makes Motion JPEG if not.
//
// The file is written from its beginning to its end, without a seek; what is in memory is one part of it and
// the tables of samples, 16 bytes for a frame, and as many again while Close writes them:
//
//	ftyp                          isom
//	mdat                          frames, 1 MB of them, or one that is larger
//	mdat ...
//	moov
//	  mvhd                        the time of the first frame, in seconds since 1904
//	  trak
//	    tkhd
//	    mdia
//	      mdhd                    the time scale: 1,000,000
//	      hdlr                    vide
//	      minf
//	        vmhd
//	        dinf  dref  url       this file
//	        stbl
//	          stsd                mp4v (esds), avc1 (avcC), hvc1 (hvcC), vp09 (vpcC) or av01 (av1C);
//	                              one for each set of parameters
//	          stts                how many frames, for how long each
//	          stss                which are key frames, if not all are
//	          stsc                how many frames each mdat has, and which entry of stsd they need
//	          stsz                the length of each frame
//	          co64                where the first frame of each mdat is
//
// A box is its length u32, four letters, and the rest. All numbers are big endian. mvhd, tkhd and mdhd have
// version 1 if a duration needs 64 bits. Sources: ISO/IEC 14496-12 (boxes), 14496-15 (avcC, hvcC), 14496-1
// (esds), ITU-T H.264 and H.265 (NAL units), the specifications of VP9, of AV1, and of both in ISO files.
//
// # Times
//
// The first frame is at 0; each other is at its time since the first, rounded to 1 us, however long
// the gap before it is. With a gap of more than 71 minutes, which 32 bits of microseconds cannot
// have, the time scale of the whole file is as much lower as it must be: Summary.Scale. A frame
// whose time is not later than the time of the frame before it is put 1 us (one unit of the scale)
// after that, and is counted in Summary.Moved. The last frame is as long as the one before it.
//
// # Frames
//
// A frame of H.264 or H.265 is an access unit: NAL units that begin with start codes (00 00 01 or 00 00 00 01)
// or with their lengths in 4 bytes. In the file they have lengths, and the parameter sets are in the entry of
// stsd alone. One of AV1 is a temporal unit, whose delimiter is not in the file; one of VP9 is a frame or
// superframe.
//
// Frames before the first key frame with all parameter sets are left out, and counted in Summary.Dropped:
// nothing could decode them. If parameters or the size change later, the frames get an entry of their own.
//
// # Refused
//
// A frame that is not one of its codec wraps storage.ErrCorrupt, one of another kind or size
// storage.ErrUnsupported; nothing of it is written, and the writer goes on. VP8 is recognized and refused, as
// few programs read it in MP4. After an error of the io.Writer all calls return that error. A Writer is used by
// one goroutine at a time; it keeps no slice that it is given.
package mp4
